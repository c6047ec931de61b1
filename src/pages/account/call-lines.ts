/** One call of the API as lines to paste: for a shell, for TypeScript, for Python. */

export interface Call {
  /** Origin (and path) of the service, without a slash at the end. */
  base: string;
  /** Path and query, percent-encoded. */
  target: string;
  /** Without one a placeholder stands in its place. */
  key?: string;
}

export interface CallLines {
  curl: string;
  /** For Node and Deno, as a module. */
  typescript: string;
  /** For Python 3 with nothing installed. */
  python: string;
}

const placeholder = "YOUR_KEY";

/** Plain text: escape it like any other before it goes into a page. Whatever the values hold stays a value. */
export function callLines({ base, target, key = placeholder }: Call): CallLines {
  const url = base + target;
  return {
    curl: `curl -H ${shellWord(`x-api-key: ${key}`)} ${shellWord(url)}`,
    typescript: `const url = ${literal(url)};
const response = await fetch(url, { headers: { "x-api-key": ${literal(key)} } });
if (!response.ok) throw new Error(await response.text());
const { data, pagination } = await response.json();
console.log(pagination.total, data);`,
    python: `import json
from urllib.request import Request, urlopen

url = ${literal(url)}
request = Request(url, headers={"x-api-key": ${literal(key)}})
with urlopen(request) as response:
    answer = json.load(response)
print(answer["pagination"]["total"], answer["data"])`,
  };
}

/** Between single quotes a shell reads everything but their end as it stands (POSIX 2024, 2.2.2). */
const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** JSON's text in quotes means the same in TypeScript and in Python. */
const literal = (text: string): string => JSON.stringify(text);
