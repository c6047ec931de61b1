/**
 * Writes the types of the clients from openapi.json, as part of `npm run openapi`. Members keep the API's spelling, so
 * that an answer is the plain result of JSON.parse.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { type ApiTypes, type Declaration, readTypes, type Type } from "./read-types.ts";

/** Returns the text of types.ts. */
function typescriptOf({ declarations, operations }: ApiTypes): string {
  const type = (one: Type): string => {
    if (one.is === "named") return one.name;
    if (one.is === "nullable") return `${type(one.of)} | null`;
    if (one.is === "scalar") return scalars[one.name] ?? one.name;
    const item = type(one.of);
    return one.mayBeOne ? `${item} | readonly ${item}[]` : `${item}[]`;
  };
  const comment = (text: string | undefined, indent = "") => {
    const [first, ...more] = linesOf(text);
    if (first === undefined) return [];
    if (more.length === 0) return [`${indent}/** ${first} */`];
    const lines = [first, ...more].map((line) => `${indent} * ${line}`.trimEnd());
    return [`${indent}/**`, ...lines, `${indent} */`];
  };
  const byName = new Map(declarations.map((one) => [one.name, one]));
  const blocks = declarations.map((one) => {
    const head = comment(one.description);
    if (one.is === "values") {
      const values = one.values.map((value) => JSON.stringify(value));
      return [...head, `export type ${one.name} =`, ...alternatives([...values, "(string & {})"])];
    }
    const base = byName.get(one.base ?? "");
    const inherited = base?.is === "object" ? base.members : [];
    const members = one.members.flatMap((member) => {
      const { name, isRequired, type: of } = member;
      const wider = inherited.find((other) => other.name === name);
      if (JSON.stringify(wider) === JSON.stringify(member)) return [];
      const quoted = isIdentifier(name) ? name : JSON.stringify(name);
      // Editors show the base's description, too.
      const description =
        member.description === wider?.description ? undefined : member.description;
      return [...comment(description, "  "), `  ${quoted}${isRequired ? "" : "?"}: ${type(of)};`];
    });
    if (one.isOpen) members.push("  [member: string]: unknown;");
    const heading = base === undefined ? one.name : `${one.name} extends ${base.name}`;
    return [...head, `export interface ${heading} {`, ...members, "}"];
  });
  blocks.push([
    ...comment("Query and answer of each operation, by its path."),
    "export interface Operations {",
    ...operations.map(
      ({ path, query, answer }) => `  "${path}": { query: ${query}; answer: ${answer} };`,
    ),
    "}",
  ]);
  const head = [
    "/** The API's types, written by clients/write-types.ts from openapi.json: change them there. */",
  ];
  return [head, ...blocks].map((lines) => `${lines.join("\n")}\n`).join("\n");
}

const scalars: Readonly<Record<string, string>> = {
  integer: "number",
  object: "Record<string, unknown>",
};

const linesOf = (text: string | undefined) => (text === undefined ? [] : text.split("\n"));

const alternatives = (of: readonly string[]) =>
  of.map((one, i) => `  | ${one}${i === of.length - 1 ? ";" : ""}`);

const isIdentifier = (name: string) => /^[a-z_]\w*$/i.test(name);

/** Returns the part of the Python module that declares the types. */
function pythonOf({ declarations, operations }: ApiTypes): string {
  // In Python an answer is a Page.
  const unused = new Set(operations.map(({ answer }) => answer));
  const type = (one: Type): string => {
    if (one.is === "named") return one.name;
    if (one.is === "nullable") return `${type(one.of)} | None`;
    if (one.is === "list") {
      const item = type(one.of);
      return one.mayBeOne ? `${item} | Sequence[${item}]` : `list[${item}]`;
    }
    return pythonScalars[one.name];
  };
  const comment = (text: string | undefined, indent = "") =>
    linesOf(text).map((line) => `${indent}# ${line}`.trimEnd());
  const blocks = inOrderOfUse(declarations.filter(({ name }) => !unused.has(name))).map((one) => {
    if (one.is === "values") {
      const values = one.values.map((value) => `    ${JSON.stringify(value)},`);
      return [...comment(one.description), `${one.name} = str | Literal[`, ...values, "]"];
    }
    // A TypedDict allows only the members that it names.
    if (one.isOpen) return [...comment(one.description), `${one.name} = dict[str, Any]`];
    const described = one.members.map((member) => {
      const of = type(member.type);
      return { ...member, of: member.isRequired ? of : `NotRequired[${of}]` };
    });
    const quote = (text: string) => [`    """${text}"""`, ""];
    if (one.members.every(({ name }) => isIdentifier(name) && name !== "from"))
      return [
        `class ${one.name}(TypedDict):`,
        ...(one.description === undefined ? [] : quote(one.description)),
        ...described.flatMap(({ name, description, of }) => [
          ...comment(description, "    "),
          `    ${name}: ${of}`,
        ]),
      ];
    return [
      ...comment(one.description),
      `${one.name} = TypedDict(`,
      `    "${one.name}",`,
      "    {",
      ...described.flatMap(({ name, description, of }) => [
        ...comment(description, "        "),
        `        "${name}": ${of},`,
      ]),
      "    },",
      ")",
    ];
  });
  return blocks.map((lines) => `${lines.join("\n")}\n`).join("\n\n");
}

const pythonScalars = {
  string: "str",
  number: "float",
  integer: "int",
  boolean: "bool",
  object: "dict[str, Any]",
  unknown: "Any",
} as const;

/** Sorts each type after those it names, because Python evaluates them in order. */
function inOrderOfUse(declarations: readonly Declaration[]): Declaration[] {
  const byName = new Map(declarations.map((one) => [one.name, one]));
  const ordered = new Set<Declaration>();
  const namesIn = (type: Type): string[] =>
    type.is === "named" ? [type.name] : "of" in type ? namesIn(type.of) : [];
  const add = (one: Declaration) => {
    if (ordered.has(one)) return;
    const used = one.is === "object" ? one.members.flatMap(({ type }) => namesIn(type)) : [];
    for (const name of used) add(byName.get(name)!);
    ordered.add(one);
  };
  declarations.forEach(add);
  return [...ordered];
}

const markers = [
  "# The API's types, written by clients/write-types.ts from openapi.json: change them there.\n",
  "# End of the API's types.\n",
] as const;

/** Returns the module with the part between its markers replaced. */
function withPart(module: string, part: string): string {
  const [before, after] = markers.map((marker) => module.indexOf(marker));
  if (before === -1 || after === -1)
    throw new Error(`gp_records.py lacks '${markers.join("' or '")}'.`);
  return `${module.slice(0, before! + markers[0].length)}\n\n${part}\n\n${module.slice(after)}`;
}

/** Returns the up-to-date text of each file with types, by its path from the root of the repository. */
export function typeFiles(): Record<string, string> {
  const types = readTypes(readFileSync("openapi.json", "utf8"));
  return {
    "clients/typescript/src/types.ts": typescriptOf(types),
    "clients/python/gp_records.py": withPart(
      readFileSync("clients/python/gp_records.py", "utf8"),
      pythonOf(types),
    ),
  };
}

if (import.meta.main)
  for (const [path, text] of Object.entries(typeFiles())) writeFileSync(path, text);
