/** Does anything listen there? */
import { connect } from "node:net";

/** Within a second. */
export function canConnect(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1000 });
    const end = (isReached: boolean) => {
      socket.destroy();
      resolve(isReached);
    };
    socket.once("connect", () => end(true));
    for (const event of ["error", "timeout"]) socket.once(event, () => end(false));
  });
}
