/** Forgotten passwords: asks for an address and mails a link to it if somebody has it. */
import { canMail, linkOf, mail, mailedPage, noMailPage } from "#account/components/mailed.ts";
import { resetMail } from "#account/mail-templates.ts";
import { orAgain } from "#account/refusal-reply.ts";
import { page, type Reply } from "#account/reply.ts";
import type { AccountRequest } from "#account/request.ts";
import { type Route, route } from "#account/route.ts";
import { readAddress } from "#accounts/addresses.ts";
import { requestReset } from "#accounts/reset-password.ts";
import { typedAddress } from "./sign-in.ts";
import { forgotPage } from "./sign-up.ts";

export const forgotRoutes: readonly Route[] = [
  route("/account/forgot", "anyone", { GET: show, POST: take }),
];

function show(request: AccountRequest): Reply {
  return obstacle(request) ?? page(forgotPage());
}

function take(request: AccountRequest): Reply | Promise<Reply> {
  const inTheWay = obstacle(request);
  if (inTheWay !== null) return inTheWay;
  return orAgain(
    () => ask(request),
    (fault) => forgotPage({ email: typedAddress(request), fault }),
  );
}

/** Why no link can be mailed, as a page. */
const obstacle = (request: AccountRequest): Reply | null =>
  canMail(request) ? null : page(noMailPage("Choose a new password"), 403);

/** The page shows the address as typed, not as stored: that would reveal that it is stored. */
async function ask(request: AccountRequest): Promise<Reply> {
  const { services, form, client, now } = request;
  const address = form.get("email") ?? "";
  const made = await requestReset(services.control, { address, client, now });
  const { email } = readAddress(address);
  const demoLink = made === null ? null : send(request, linkOf(request, made));
  return page(mailedPage({ email, demoLink, frame: null }));
}

const send = (request: AccountRequest, link: ReturnType<typeof linkOf>) =>
  mail(request, resetMail(link), link.url);
