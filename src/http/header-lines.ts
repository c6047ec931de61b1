/** Headers as Node writes them fastest: a flat list of name, value, name, value. */
export type HeaderLines = readonly string[];

export const headerLines = (headers: Readonly<Record<string, string>>): HeaderLines =>
  Object.entries(headers).flat();
