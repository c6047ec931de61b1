/** Change the e-mail address or the password that one signs in with. */
import { faultNote, field, passwordField } from "#account/components/form-fields.ts";
import { accountPage, type Frame, framed } from "#account/components/frame.ts";
import { canMail, linkOf, mail, mailedPage, noMailPage } from "#account/components/mailed.ts";
import { begin } from "#account/cookies.ts";
import {
  addressChangeMail,
  addressTakenMail,
  passwordChangedMail,
} from "#account/mail-templates.ts";
import { orAgain } from "#account/refusal-reply.ts";
import { page, type Reply } from "#account/reply.ts";
import type { SignedInRequest } from "#account/request.ts";
import { type Route, route } from "#account/route.ts";
import { requestAddressChange } from "#accounts/change-address.ts";
import { changePassword } from "#accounts/change-password.ts";
import { html } from "#pages/html.ts";
import { passwordFields } from "./link.ts";
import { typedAddress } from "./sign-in.ts";

export const credentialRoutes: readonly Route[] = [
  route("/account/settings/address", "person", { GET: showAddress, POST: postAddress }),
  route("/account/settings/password", "person", { GET: showPassword, POST: postPassword }),
];

function showAddress(request: SignedInRequest): Reply {
  return obstacle(request) ?? page(changeAddressPage({ frame: framed(request)! }));
}

function postAddress(request: SignedInRequest): Reply | Promise<Reply> {
  const inTheWay = obstacle(request);
  if (inTheWay !== null) return inTheWay;
  return orAgain(
    () => askAddress(request),
    (fault) => changeAddressPage({ frame: framed(request)!, typed: typedAddress(request), fault }),
  );
}

/** Why the address cannot be changed here, as a page. */
const obstacle = (request: SignedInRequest): Reply | null =>
  canMail(request) ? null : page(noMailPage("Change your address", framed(request)), 403);

/** Only the mail to the new address tells whether somebody has it already. */
async function askAddress(request: SignedInRequest): Promise<Reply> {
  const { services, signedIn, form, now } = request;
  const { id: person } = signedIn.person;
  const order = { person, password: form.get("password") ?? "", address: form.get("email") ?? "" };
  const made = await requestAddressChange(services.control, services.passwords, { ...order, now });
  const { isKnown, email } = made;
  const link = linkOf(request, made);
  const message = isKnown ? addressTakenMail({ to: email }) : addressChangeMail(link);
  const shown = mail(request, message, link.url);
  return page(mailedPage({ email, demoLink: isKnown ? null : shown, frame: framed(request) }));
}

function showPassword(request: SignedInRequest): Reply {
  return page(changePasswordPage(framed(request)!));
}

function postPassword(request: SignedInRequest): Promise<Reply> {
  const { services, signedIn, form, client, now } = request;
  const { id: person, email: to } = signedIn.person;
  const present = form.get("present") ?? "";
  const next = form.get("next") ?? "";
  return orAgain(
    async () => {
      const order = { person, present, next, client, now };
      const signedIn = await changePassword(services.control, services.passwords, order);
      const url = `${services.settings.linkBase}/account/forgot`;
      services.mailer.send(passwordChangedMail({ to, url }));
      return begin(request, signedIn, "/account/settings?done=password");
    },
    (fault) => changePasswordPage(framed(request)!, fault),
  );
}

interface ChangeAddress {
  frame: Frame;
  typed?: string;
  fault?: string;
}

const changeAddressPage = ({ frame, typed, fault }: ChangeAddress): string =>
  accountPage({
    title: "Change address",
    frame,
    main: html`<h1>Change your address</h1>
      <p>
        We mail a link to the new address. You go on signing in with
        <strong class="name">${frame.email}</strong> until you have followed it.
      </p>
      ${faultNote(fault)}
      <form class="form" method="post" action="/account/settings/address">
        ${field({ name: "email", label: "New e-mail address", type: "email", autocomplete: "email", value: typed })}
        ${passwordField("Password")}
        <button>Mail me a link</button>
      </form>`,
  });

const changePasswordPage = (frame: Frame, fault?: string): string =>
  accountPage({
    title: "Change password",
    frame,
    main: html`<h1>Change your password</h1>
      <p>Every other browser is signed out.</p>
      ${faultNote(fault)}
      <form class="form" method="post" action="/account/settings/password">
        ${passwordField("Present password", "present")} ${passwordFields(frame.email, "next")}
        <button>Change password</button>
      </form>
      <p>
        You no longer know it? <a href="/account/forgot">Ask for a link</a> to choose a new one.
      </p>`,
  });
