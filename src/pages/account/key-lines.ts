/** A new key as lines to paste. Code reads it from the environment: what is written into code ends up in a repository. */

export interface KeyLines {
  curl: string;
  environment: string;
  typescript: string;
  python: string;
}

/**
 * Plain text, to be escaped like any other.
 * @param base origin (and path) of the service, without a slash at the end. @param target path and query,
 *   percent-encoded.
 */
export function keyLines(base: string, target: string, key: string): KeyLines {
  const url = base + target;
  return {
    curl: `curl '${url}' \\
  -H 'x-api-key: ${key}'`,
    environment: `GP_RECORDS_KEY=${key}`,
    typescript: `const answer = await fetch("${url}", {
  headers: { "x-api-key": process.env.GP_RECORDS_KEY! },
});
console.log(await answer.json());`,
    python: `import json, os
from urllib.request import Request, urlopen

key = {"x-api-key": os.environ["GP_RECORDS_KEY"]}
url = "${url}"
print(json.load(urlopen(Request(url, headers=key))))`,
  };
}
