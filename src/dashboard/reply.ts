/** The responses a route may give. */
import type { PageAnswer } from "./messages.ts";

export type Reply = PageAnswer;

/** @param markup a whole page. */
export const page = (markup: string, status = 200): Reply => ({
  status,
  headers: [["content-type", "text/html; charset=utf-8"]],
  body: markup,
});

/** @param markup a page with the form that signs in: a 401 has to name a way to prove who one is (RFC 9110 §11.6.1). */
export const unauthorized = (markup: string): Reply =>
  withHeader(page(markup, 401), "www-authenticate", "Form realm=account");

/** For the script of a page. */
export const json = (value: unknown): Reply => ({
  status: 200,
  headers: [["content-type", "application/json; charset=utf-8"]],
  body: JSON.stringify(value),
});

/** After a POST: the browser asks for the other page, so that a reload sends nothing again (RFC 9110 §15.4.4). */
export const seeOther = (path: string): Reply => ({
  status: 303,
  headers: [["location", path]],
  body: "",
});

/** @param name of the file the browser saves it under: letters, digits, points and hyphens. */
export const download = (name: string, contentType: string, body: string): Reply => ({
  status: 200,
  headers: [
    ["content-type", contentType],
    ["content-disposition", `attachment; filename="${name}"`],
  ],
  body,
});

export const withHeader = (reply: Reply, name: string, value: string): Reply => ({
  ...reply,
  headers: [...reply.headers, [name, value]],
});
