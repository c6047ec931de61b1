/** A path of the account pages: who may come, and what answers. */
import type { Reply } from "./reply.ts";
import type { MemberRequest, SignedInRequest, AccountRequest } from "./request.ts";

/** Whoever may come, and what the function then gets. */
interface RequestOf {
  anyone: AccountRequest;
  /** Signed in, whether or not a member of any account. */
  person: SignedInRequest;
  /** Looks at an account of theirs. */
  member: MemberRequest;
  owner: MemberRequest;
}
type Access = keyof RequestOf;

export type Serve<V extends AccountRequest = AccountRequest> = (
  request: V,
) => Reply | Promise<Reply>;

/** A GET never changes anything. */
interface Methods<V extends AccountRequest = AccountRequest> {
  GET?: Serve<V>;
  POST?: Serve<V>;
}

export interface Route {
  /** With `{name}` for a part that stands for anything but a slash. */
  path: `/account${string}`;
  access: Access;
  methods: Methods;
  /** Asked by the script of a page, not looked at. */
  isBackground: boolean;
}

export function route<A extends Access>(
  path: Route["path"],
  access: A,
  methods: Methods<RequestOf[A]>,
  { isBackground = false }: { isBackground?: boolean } = {},
): Route {
  // What a function takes is what `access` promises; answer-request.ts keeps the promise.
  return { path, access, methods: methods as Methods, isBackground };
}

/** The first route whose path this is, and what stood for its names. */
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
