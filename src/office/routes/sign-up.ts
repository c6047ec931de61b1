/** Signing up: an address is asked for, and a link mailed to it. */
import { requestSignUp } from "#accounts/sign-up.ts";
import { knownLetter, signUpLetter } from "#office/mail/letters.ts";
import { canMail, linkOf, mail } from "#office/mailing.ts";
import { orAgain } from "#office/refusal.ts";
import { page, type Reply } from "#office/reply.ts";
import { type Route, route } from "#office/route.ts";
import type { Visit } from "#office/visit.ts";
import { signUpPage } from "#pages/account/ask-address.ts";
import { mailedPage, noMailPage } from "#pages/account/mailed.ts";
import { whomToAsk } from "#pages/account/sign-in.ts";
import { wordPage } from "#pages/account/word.ts";
import { typedAddress } from "./sign-in.ts";

/** What stands in the way of signing up by oneself, or null. */
function obstacle(visit: Visit): Reply | null {
  const { signUp } = visit.rooms.settings;
  if (signUp !== "open") {
    const text = `Nobody signs up here without an invitation. Ask ${whomToAsk(signUp)} for one.`;
    const next = { href: "/account/sign-in", label: "Sign in" };
    return page(wordPage("Sign up by invitation", text, null, next), 403);
  }
  return canMail(visit) ? null : page(noMailPage("Sign up"), 403);
}

const show = (visit: Visit): Reply => obstacle(visit) ?? page(signUpPage());

function take(visit: Visit): Reply | Promise<Reply> {
  const inTheWay = obstacle(visit);
  if (inTheWay !== null) return inTheWay;
  const email = typedAddress(visit);
  return orAgain(
    () => ask(visit),
    (fault) => signUpPage({ email, fault }),
  );
}

/** One page for everybody: whether the address is somebody's, only its mail tells. */
async function ask(visit: Visit): Promise<Reply> {
  const { rooms, form, client, now } = visit;
  const address = form.get("email") ?? "";
  const made = await requestSignUp(rooms.control, { address, client, now });
  const link = linkOf(visit, made);
  const letter = made.isKnown ? knownLetter(link) : signUpLetter(link);
  const demoLink = mail(visit, letter, link.url);
  return page(mailedPage({ email: made.email, demoLink, frame: null }));
}

export const signUpRoutes: readonly Route[] = [
  route("/account/sign-up", "anyone", { GET: show, POST: take }),
];
