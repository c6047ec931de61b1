/** How long it takes from the start of the program to its first answer, and what memory it holds then. */
import { ask } from "../ask.ts";
import type { Checkout, Fixtures, Published } from "../fixtures.ts";
import { openSession, type Session } from "../rounds.ts";
import { residentBytes } from "../servers.ts";

export const openStart = (fixtures: Fixtures): Promise<Session> =>
  openSession(fixtures.checkouts, async (checkout) => {
    const published = await fixtures.published(checkout, 1);
    // The very first start compiles; operators' servers find all of it compiled.
    await startOnce(fixtures, checkout, published);
    const all: number[] = [];
    return {
      async sample() {
        const { seconds, megabytes } = await startOnce(fixtures, checkout, published);
        all.push(seconds);
        return { start: seconds, memory: megabytes };
      },
      note: (row) =>
        row === "memory"
          ? "right after the first answer"
          : `${Math.min(...all).toFixed(2)} to ${Math.max(...all).toFixed(2)} s`,
      async close() {},
    };
  });

async function startOnce(fixtures: Fixtures, checkout: Checkout, published: Published) {
  const dataDir = fixtures.serverFolder(published);
  const startedAt = performance.now();
  const server = await fixtures.start(checkout, { dataDir });
  const [key] = published.keys;
  const { status } = await ask({ port: server.port, path: "/fetch-signals?limit=20", key: key! });
  const seconds = (performance.now() - startedAt) / 1000;
  if (status !== 200) throw new Error(`The first answer after a start was a ${status}.`);
  const megabytes = residentBytes(server.pid) / 1e6;
  await server.stop();
  return { seconds, megabytes };
}
