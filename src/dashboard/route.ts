/** A path of the account pages: who may use it, and which function serves each method. */
import { orAgain } from "./refusal-reply.ts";
import { page, type Reply } from "./reply.ts";
import type { MemberRequest, SignedInRequest, AccountRequest } from "./request.ts";

/** Who may use a route, and the request its functions then get. */
interface RequestByAccess {
  anyone: AccountRequest;
  /** Signed in, whether or not a member of any account. */
  person: SignedInRequest;
  /** Signed in, and looking at an account of theirs. */
  member: MemberRequest;
  owner: MemberRequest;
}
type Access = keyof RequestByAccess;

export type Serve<R extends AccountRequest = AccountRequest> = (
  request: R,
) => Reply | Promise<Reply>;

/** A GET never changes anything. */
interface Methods<R extends AccountRequest = AccountRequest> {
  GET?: Serve<R>;
  POST?: Serve<R>;
}

export interface Route {
  /** A segment `{name}` matches any text without a slash. */
  path: `/account${string}`;
  access: Access;
  methods: Methods;
  /** Requested by the script of a page, not looked at by a person. */
  isBackground: boolean;
}

export function route<A extends Access>(
  path: Route["path"],
  access: A,
  methods: Methods<RequestByAccess[A]>,
  { isBackground = false }: { isBackground?: boolean } = {},
): Route {
  // answer-request.ts calls a function only with the request that `access` promises it.
  return { path, access, methods: methods as Methods, isBackground };
}

interface Form<R extends AccountRequest> {
  /** Why it can be used by nobody, as a page. */
  obstacle?(request: R): Reply | null;
  /** The page with the form. @param fault what was wrong with what was sent. */
  page(request: R, fault?: string): string | Promise<string>;
  act(request: R): Promise<Reply>;
}

/** A page with one form: a GET shows it, and a POST does what it asks for, or shows it again with the error. */
export const formRoute = <A extends Access>(
  path: Route["path"],
  access: A,
  form: Form<RequestByAccess[A]>,
): Route =>
  route(path, access, {
    GET: async (request) => form.obstacle?.(request) ?? page(await form.page(request)),
    POST: async (request) =>
      form.obstacle?.(request) ??
      orAgain(
        () => form.act(request),
        (fault) => form.page(request, fault),
      ),
  });

/** The first route that matches the path, and the text of its `{name}` segments. */
export function findRoute(
  routes: readonly Route[],
  path: string,
): { found: Route; names: Record<string, string> } | undefined {
  const parts = path.split("/");
  for (const found of routes) {
    const wanted = found.path.split("/");
    if (wanted.length !== parts.length) continue;
    const names: Record<string, string> = {};
    const isFound = wanted.every((part, i) => {
      if (!part.startsWith("{")) return part === parts[i];
      names[part.slice(1, -1)] = parts[i]!;
      return parts[i] !== "";
    });
    if (isFound) return { found, names };
  }
  return undefined;
}
