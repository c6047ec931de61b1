/** Where a form may lead to afterwards: our own account pages and nothing else. */

// No `//`, no `..`, no backslash: whatever a browser makes of the text, it stays below /account here.
const ownShape = /^\/account(?:\/[\w-]+)*(?:\?[\w\-.~%=&+:]*)?$/;

/** @param text from a form or an address, so anyone's. @returns `/account` in place of everything else. */
export const ownPath = (text: string | null): string =>
  text !== null && ownShape.test(text) ? text : "/account";
