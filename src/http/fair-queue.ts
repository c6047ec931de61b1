/** Shares the event loop fairly: each client gets a few requests handled per turn of it, the others wait for later turns. */

export interface FairQueue {
  /**
   * Runs at once, or in a later turn where the client has used its share of this one.
   * @param client an account, or the network of a client without a valid key.
   */
  enter(client: string | number, run: () => void): void;
}

interface Client {
  served: number;
  readonly waiting: (() => void)[];
}

/** Few enough to delay other clients by less than a millisecond. */
export const sharePerTurn = 2;

/** A client with a thousand connections delays others no more than one with two. */
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
