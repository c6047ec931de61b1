/** The forms of the key pages as a person sends them, and the keys their answers show. */
import assert from "node:assert/strict";
import type { Page, TestUser } from "./user.ts";

/** Whole keys in a text, each once. */
export const keysIn = (text: string): string[] => [
  ...new Set(text.match(/\bgpr_[0-9A-Za-z]{36}\b/g)),
];

/** Sends the form that creates a key. */
export const orderKey = (
  user: TestUser,
  fields: Readonly<Record<string, string>> = {},
): Promise<Page> =>
  user.submit("/account/keys", "/account/keys", { name: "first", expiry: "90", ...fields });

/** The one key a page shows, and its id. */
export function shownKey(page: Page) {
  assert.equal(page.status, 200, page.text);
  const [key, ...others] = keysIn(page.text);
  assert.deepEqual(others, []);
  const id = /\/account\/keys\/(key_[0-9a-z]{16})/.exec(page.text)?.[1];
  return { id: id!, key: key!, page };
}

export const createKey = async (user: TestUser, fields?: Readonly<Record<string, string>>) =>
  shownKey(await orderKey(user, fields));

export const orderRotation = (user: TestUser, id: string, overlap: string): Promise<Page> =>
  user.submit(`/account/keys/${id}`, `/account/keys/${id}/rotate`, { overlap });
