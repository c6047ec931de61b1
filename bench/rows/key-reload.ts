/** How long the event loop is blocked when another process changes one of 10,000 keys, which are all read again. */
import type { Fixtures } from "../fixtures.ts";
import { fetchOnce } from "../requests.ts";
import { openSession, type Session } from "../rounds.ts";
import { askInside } from "../servers.ts";
import { median } from "../statistics.ts";

const keyCount = 10_000;

export const openKeyReload = (fixtures: Fixtures): Promise<Session> =>
  openSession(fixtures.checkouts, async (checkout) => {
    const { root } = checkout;
    const { addKeys, issueKeys } = await fixtures.keysOf(checkout);
    const dataDir = fixtures.emptyFolder();
    const [key] = await issueKeys(root, dataDir, 1);
    await addKeys(root, dataDir, keyCount - 1);
    const server = await fixtures.start(checkout, { dataDir, isWatched: true });
    /** ms of the longest delay of the event loop while one request is answered. */
    const delayOfRequest = async () => {
      await askInside(server, "beginDelay");
      const headers = { "x-api-key": key! };
      // There are no records: what is measured is what comes before them.
      const { status } = await fetchOnce(server.port, "/fetch-signals?limit=1", headers);
      if (status !== 503) throw new Error(`A key of 10,000 was answered with ${status}.`);
      return askInside<number>(server, "endDelay");
    };
    const [changed, unchanged]: [number[], number[]] = [[], []];
    return {
      async sample() {
        unchanged.push(await delayOfRequest());
        await addKeys(root, dataDir, 1);
        const delay = await delayOfRequest();
        changed.push(delay);
        return { "key-reload": delay };
      },
      note: () =>
        `at most ${Math.max(...changed).toFixed(1)} ms; without a change ${median(unchanged).toFixed(1)}, at most ${Math.max(...unchanged).toFixed(1)} ms`,
      close: () => server.stop(),
    };
  });
