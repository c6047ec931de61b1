/** Can the server listen at ADMIN_ADDRESS? */
import { barred, mayBeHeld, sameSettings } from "./barred-place.ts";
import { fail, type Finding, ok, warn } from "./check.ts";
import { type Place, placeText, whyNotListen } from "./listen.ts";

const settings = { host: "ADMIN_ADDRESS", port: "ADMIN_ADDRESS" };

/** @param server what holds the lock of the folder; undefined where no server runs. */
export async function adminFinding(place: Place, server: string | undefined): Promise<Finding> {
  const text = `${placeText(place)}, the ADMIN_ADDRESS,`;
  const why = await whyNotListen(place);
  if (why === null)
    return server === undefined || place.port === 0
      ? ok(`${text} is free`)
      : warn(`the server, ${server}, does not listen at ${text} for its metrics`, sameSettings);
  if (!mayBeHeld(why)) return barred(place, why, settings);
  if (server !== undefined) return ok(`${text} is left to the server, which runs`);
  return why === "EADDRINUSE"
    ? fail(
        `${text} is held by another program`,
        "Stop that program, or set ADMIN_ADDRESS to another port.",
      )
    : barred(place, why, settings);
}
