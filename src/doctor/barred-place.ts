/** What to do where an address cannot be listened on. */
import { fail, type Finding } from "./check.ts";
import { type Place, placeText } from "./listen.ts";

/** Somebody may listen there already; a user who may not listen can still ask who does. */
export const mayBeHeld = (why: string) => why === "EADDRINUSE" || why === "EACCES";

export const sameSettings =
  "Give doctor the settings of the server; if they are the same, restart it.";

/**
 * @param why the system's code.
 * @param settings those that name the host and the port.
 */
export function barred(
  place: Place,
  why: string,
  settings: { host: string; port: string },
): Finding {
  return why === "EACCES"
    ? fail(
        `this user may not listen on ${placeText(place)} (${why})`,
        `Set ${settings.port} to a port above 1023.`,
      )
    : fail(
        `nobody can listen on ${placeText(place)} (${why})`,
        `Set ${settings.host} to an address of this machine.`,
      );
}
