/** Change the e-mail address or the password that one signs in with. */
import { requestAddressChange } from "#accounts/change-address.ts";
import { changePassword } from "#accounts/change-password.ts";
import { canMail, linkOf, mail, mailedPage, noMailPage } from "#dashboard/components/mailed.ts";
import { accountPage, faultNote, field, passwordField } from "#dashboard/components/page.ts";
import { begin } from "#dashboard/cookies.ts";
import {
  addressChangeMail,
  addressTakenMail,
  passwordChangedMail,
} from "#dashboard/mail-templates.ts";
import {
  formRoute,
  page,
  type Reply,
  type Route,
  type SignedInRequest,
} from "#dashboard/screen.ts";
import { html } from "#pages/html.ts";
import { passwordFields } from "./link.ts";
import { typedAddress } from "./sign-in.ts";

export const credentialRoutes: readonly Route[] = [
  formRoute("/account/settings/address", "person", {
    obstacle: (request) =>
      canMail(request) ? null : page(noMailPage("Change your address", request), 403),
    page: addressPage,
    act: askAddress,
  }),
  formRoute("/account/settings/password", "person", { page: passwordPage, act: setPassword }),
];

/** Only the mail to the new address tells whether somebody has it already. */
async function askAddress(request: SignedInRequest): Promise<string> {
  const { services, signedIn, form, now } = request;
  const { id: person } = signedIn.person;
  const order = { person, password: form.get("password") ?? "", address: form.get("email") ?? "" };
  const made = await requestAddressChange(services.control, services.passwords, { ...order, now });
  const { isKnown, email } = made;
  const link = linkOf(request, made);
  const message = isKnown ? addressTakenMail({ to: email }) : addressChangeMail(link);
  const shown = mail(request, message, link.url);
  return mailedPage(request, email, isKnown ? null : shown);
}

async function setPassword(request: SignedInRequest): Promise<Reply> {
  const { services, signedIn, form, client, now } = request;
  const { id: person, email: to } = signedIn.person;
  const [present, next] = ["present", "next"].map((name) => form.get(name) ?? "");
  const order = { person, present: present!, next: next!, client, now };
  const changed = await changePassword(services.control, services.passwords, order);
  const url = `${services.settings.linkBase}/account/forgot`;
  services.mailer.send(passwordChangedMail({ to, url }));
  return begin(request, changed, "/account/settings?done=password");
}

function addressPage(request: SignedInRequest, fault?: string): string {
  return accountPage(request, {
    title: "Change address",
    main: html`<h1>Change your address</h1>
      <p>
        We mail a link to the new address. You go on signing in with
        <strong class="name">${request.signedIn.person.email}</strong> until you have followed it.
      </p>
      ${faultNote(fault)}
      <form class="form" method="post" action="/account/settings/address">
        ${field({ name: "email", label: "New e-mail address", type: "email", autocomplete: "email", value: typedAddress(request) })}
        ${passwordField("Password")}
        <button>Mail me a link</button>
      </form>`,
  });
}

function passwordPage(request: SignedInRequest, fault?: string): string {
  return accountPage(request, {
    title: "Change password",
    main: html`<h1>Change your password</h1>
      <p>Every other browser is signed out.</p>
      ${faultNote(fault)}
      <form class="form" method="post" action="/account/settings/password">
        ${passwordField("Present password", "present")}
        ${passwordFields(request.signedIn.person.email, "next")}
        <button>Change password</button>
      </form>
      <p>
        You no longer know it? <a href="/account/forgot">Ask for a link</a> to choose a new one.
      </p>`,
  });
}
