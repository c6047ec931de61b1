/** `/account` and the form that signs in. */
import { signIn } from "#accounts/sign-in.ts";
import { ownPath } from "#office/own-path.ts";
import { refusal } from "#office/refusal.ts";
import { page, type Reply, seeOther, unauthorized } from "#office/reply.ts";
import { type Route, route } from "#office/route.ts";
import { begin } from "#office/sessions.ts";
import type { Visit } from "#office/visit.ts";
import { signInPage } from "#pages/account/sign-in.ts";
import { StoreFault } from "#store/store-fault.ts";

/** No address is longer, so more of what was typed need not be shown again (RFC 5321 §4.5.3.1). */
const addressLengthMax = 254;

export const typedAddress = ({ form }: Visit): string =>
  (form.get("email") ?? "").slice(0, addressLengthMax);

const start = ({ visitor }: Visit): Reply =>
  seeOther(visitor === null ? "/account/sign-in" : "/account/keys");

const show = ({ query, rooms }: Visit): Reply =>
  page(
    signInPage({
      next: ownPath(query.get("next")),
      signUp: rooms.settings.signUp,
      done: query.get("done"),
    }),
  );

async function take(visit: Visit): Promise<Reply> {
  const { form, client, now } = visit;
  const { control, passwords, settings } = visit.rooms;
  const next = ownPath(form.get("next"));
  const address = form.get("email") ?? "";
  const password = form.get("password") ?? "";
  try {
    const signedIn = await signIn(control, passwords, { address, password, client, now });
    return await begin(visit, signedIn, next);
  } catch (fault) {
    if (!(fault instanceof StoreFault)) throw fault;
    const email = typedAddress(visit);
    const markup = signInPage({ next, signUp: settings.signUp, email, fault: fault.message });
    return fault.kind === "refused" ? unauthorized(markup) : refusal(fault, markup);
  }
}

export const signInRoutes: readonly Route[] = [
  route("/account", "anyone", { GET: start }),
  route("/account/sign-in", "anyone", { GET: show, POST: take }),
];
