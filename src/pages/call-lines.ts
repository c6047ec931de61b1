/** One call of the API as code to paste: for a shell, TypeScript and Python. */

interface Call {
  /** Origin (and path) of the service, without a slash at the end. */
  base: string;
  /** Path and query, percent-encoded. */
  target: string;
  /** A placeholder by default. */
  key?: string;
}

interface CallLines {
  curl: string;
  /** For a file `.env`, from which TypeScript and Python read the key: keys in code end up in repositories. */
  environment: string;
  /** For Node and Deno, as a module. */
  typescript: string;
  /** For Python 3 with nothing installed. */
  python: string;
}

const placeholder = "YOUR_KEY";

/** Plain text, to be escaped in a page. The values are quoted, so that none of them can act as code. */
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

/** Between single quotes a shell takes everything literally except the closing quote (POSIX 2024, 2.2.2). */
const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A JSON string literal is also one in TypeScript and in Python. */
const literal = (text: string): string => JSON.stringify(text);
