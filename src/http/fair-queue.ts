/** Shares the event loop out: in each of its turns a client gets a few requests answered, the next ones in later turns. */

export interface FairQueue {
  /**
   * Runs at once, or later if the client had its share of this turn.
   * @param client whoever is to be treated alike: an account, or an address without a valid key.
   */
  enter(client: string | number, run: () => void): void;
}

interface Client {
  served: number;
  readonly waiting: (() => void)[];
}

/** Few enough that somebody else waits less than a millisecond for them. */
export const sharePerTurn = 2;

/**
 * A client on a thousand connections costs others no more than one on two: what it is not answered yet, it cannot
 * ask again.
 */
export function openFairQueue(share = sharePerTurn): FairQueue {
  const clients = new Map<string | number, Client>();
  const serveNext = (client: Client) => {
    client.served = 0;
    while (client.served < share && client.waiting.length > 0) {
      client.served++;
      client.waiting.shift()!();
    }
  };
  const beginTurn = () => {
    for (const [name, client] of clients) {
      serveNext(client);
      if (client.served === 0) clients.delete(name);
    }
    if (clients.size > 0) setImmediate(beginTurn);
  };
  return {
    enter(name, run) {
      let client = clients.get(name);
      if (client === undefined) {
        if (clients.size === 0) setImmediate(beginTurn);
        clients.set(name, (client = { served: 0, waiting: [] }));
      }
      if (client.served === share) return void client.waiting.push(run);
      client.served++;
      run();
    },
  };
}
