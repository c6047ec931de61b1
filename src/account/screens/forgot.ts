/** Forgotten passwords: an address is asked for, and a link mailed to it if somebody has it. */
import { canMail, linkOf, mail, mailedPage, noMailPage } from "#account/components/mailed.ts";
import { resetLetter } from "#account/mail-templates.ts";
import { orAgain } from "#account/refusal.ts";
import { page, type Reply } from "#account/reply.ts";
import type { Visit } from "#account/request.ts";
import { type Route, route } from "#account/route.ts";
import { readAddress } from "#accounts/addresses.ts";
import { requestReset } from "#accounts/reset-password.ts";
import { typedAddress } from "./sign-in.ts";
import { forgotPage } from "./sign-up.ts";

const obstacle = (visit: Visit): Reply | null =>
  canMail(visit) ? null : page(noMailPage("Choose a new password"), 403);

const show = (visit: Visit): Reply => obstacle(visit) ?? page(forgotPage());

function take(visit: Visit): Reply | Promise<Reply> {
  const inTheWay = obstacle(visit);
  if (inTheWay !== null) return inTheWay;
  return orAgain(
    () => ask(visit),
    (fault) => forgotPage({ email: typedAddress(visit), fault }),
  );
}

/** The page says what was typed, never how the address is stored: that would tell that it is. */
async function ask(visit: Visit): Promise<Reply> {
  const { rooms, form, client, now } = visit;
  const address = form.get("email") ?? "";
  const made = await requestReset(rooms.control, { address, client, now });
  const { email } = readAddress(address);
  const demoLink = made === null ? null : send(visit, linkOf(visit, made));
  return page(mailedPage({ email, demoLink, frame: null }));
}

const send = (visit: Visit, link: ReturnType<typeof linkOf>) =>
  mail(visit, resetLetter(link), link.url);

export const forgotRoutes: readonly Route[] = [
  route("/account/forgot", "anyone", { GET: show, POST: take }),
];
