/** Shares the event loop fairly: each turn handles a few requests of each client. The rest wait for later turns. */

export type FairQueue = ReturnType<typeof openFairQueue>;

interface Share {
  served: number;
  readonly waiting: (() => void)[];
}

/** Requests of one client in a turn: few enough to delay others by less than 1 ms. */
export const sharePerTurn = 2;

/** Opens a queue in which a client with a thousand connections delays others no more than one with two. */
export function openFairQueue(share = sharePerTurn) {
  let clients = new Map<string | number, Share>();
  const serveNext = (client: Share) => {
    while (client.served < share && client.waiting.length > 0) {
      client.served++;
      client.waiting.shift()!();
    }
  };
  const beginTurn = () => {
    const left = [...clients].filter(([, { waiting }]) => waiting.length > 0);
    // A map that is emptied again and again keeps its former tables alive until a full garbage collection.
    clients = new Map(left);
    for (const [, client] of left) client.served = 0;
    for (const [, client] of left) serveNext(client);
    if (clients.size > 0) setImmediate(beginTurn);
  };
  return {
    /**
     * Runs at once, or in a later turn if the client has used its share of this one.
     * @param name an account, or the network of a client without a valid key.
     */
    enter(name: string | number, run: () => void): void {
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
