/** What somebody signs in with: another address, another password. */
import { requestAddressChange } from "#accounts/change-address.ts";
import { changePassword } from "#accounts/change-password.ts";
import { framed } from "#office/frame.ts";
import {
  addressChangeLetter,
  addressTakenLetter,
  passwordChangedLetter,
} from "#office/mail/letters.ts";
import { canMail, linkOf, mail } from "#office/mailing.ts";
import { orAgain } from "#office/refusal.ts";
import { page, type Reply } from "#office/reply.ts";
import { type Route, route } from "#office/route.ts";
import { begin } from "#office/sessions.ts";
import type { SignedInVisit } from "#office/visit.ts";
import { changeAddressPage } from "#pages/account/change-address.ts";
import { changePasswordPage } from "#pages/account/change-password.ts";
import { mailedPage, noMailPage } from "#pages/account/mailed.ts";
import { typedAddress } from "./sign-in.ts";

const obstacle = (visit: SignedInVisit): Reply | null =>
  canMail(visit) ? null : page(noMailPage("Change your address", framed(visit)), 403);

const showAddress = (visit: SignedInVisit): Reply =>
  obstacle(visit) ?? page(changeAddressPage({ frame: framed(visit)! }));

function takeAddress(visit: SignedInVisit): Reply | Promise<Reply> {
  const inTheWay = obstacle(visit);
  if (inTheWay !== null) return inTheWay;
  return orAgain(
    () => askAddress(visit),
    (fault) => changeAddressPage({ frame: framed(visit)!, typed: typedAddress(visit), fault }),
  );
}

/** Whether somebody has the new address, only its mail tells. */
async function askAddress(visit: SignedInVisit): Promise<Reply> {
  const { rooms, visitor, form, now } = visit;
  const { id: person } = visitor.person;
  const order = { person, password: form.get("password") ?? "", address: form.get("email") ?? "" };
  const made = await requestAddressChange(rooms.control, rooms.passwords, { ...order, now });
  const { isKnown, email } = made;
  const link = linkOf(visit, made);
  const letter = isKnown ? addressTakenLetter({ to: email }) : addressChangeLetter(link);
  const shown = mail(visit, letter, link.url);
  return page(mailedPage({ email, demoLink: isKnown ? null : shown, frame: framed(visit) }));
}

const showPassword = (visit: SignedInVisit): Reply => page(changePasswordPage(framed(visit)!));

function takePassword(visit: SignedInVisit): Promise<Reply> {
  const { rooms, visitor, form, client, now } = visit;
  const { id: person, email: to } = visitor.person;
  const present = form.get("present") ?? "";
  const next = form.get("next") ?? "";
  return orAgain(
    async () => {
      const order = { person, present, next, client, now };
      const signedIn = await changePassword(rooms.control, rooms.passwords, order);
      const url = `${rooms.settings.linkBase}/account/forgot`;
      rooms.post.send(passwordChangedLetter({ to, url }));
      return begin(visit, signedIn, "/account/settings?done=password");
    },
    (fault) => changePasswordPage(framed(visit)!, fault),
  );
}

export const credentialRoutes: readonly Route[] = [
  route("/account/settings/address", "person", { GET: showAddress, POST: takeAddress }),
  route("/account/settings/password", "person", { GET: showPassword, POST: takePassword }),
];
