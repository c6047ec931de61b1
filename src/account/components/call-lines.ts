/** One call of the API as lines to paste: for a shell, for TypeScript, for Python. */

interface Call {
  /** Origin (and path) of the service, without a slash at the end. */
  base: string;
  /** Path and query, percent-encoded. */
  target: string;
  /** Without one a placeholder stands in its place. */
  key?: string;
}

export interface CallLines {
  curl: string;
  /** For a file `.env`, from which the other two take the key: what is written into code ends up in a repository. */
  environment: string;
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
    curl: `curl ${shellWord(url)} \\
  -H ${shellWord(`x-api-key: ${key}`)}`,
    environment: `GP_RECORDS_KEY=${key}`,
    typescript: `const response = await fetch(${literal(url)}, {
  headers: { "x-api-key": process.env.GP_RECORDS_KEY! },
});
if (!response.ok) throw new Error(await response.text());
console.log(await response.json());`,
    python: `import json, os
from urllib.request import Request, urlopen

key = {"x-api-key": os.environ["GP_RECORDS_KEY"]}
url = ${literal(url)}
print(json.load(urlopen(Request(url, headers=key))))`,
  };
}

/** Between single quotes a shell reads everything but their end as it stands (POSIX 2024, 2.2.2). */
const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** JSON's text in quotes means the same in TypeScript and in Python. */
const literal = (text: string): string => JSON.stringify(text);
