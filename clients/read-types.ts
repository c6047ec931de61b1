/** Reads the types of openapi.json as declarations, which write-types.ts writes in each client's language. */

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: (string | number | null)[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  description?: string;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}

interface Description {
  paths: Record<
    string,
    {
      get?: {
        operationId: string;
        summary: string;
        parameters?: (Parameter | { $ref: string })[];
        responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
      };
    }
  >;
  components: { schemas: Record<string, Schema> };
}

export type Type =
  | { is: "named"; name: string }
  | { is: "scalar"; name: "string" | "number" | "integer" | "boolean" | "object" | "unknown" }
  | { is: "list"; of: Type; mayBeOne?: boolean }
  | { is: "nullable"; of: Type };

interface Member {
  name: string;
  description: string | undefined;
  isRequired: boolean;
  type: Type;
}

export type Declaration = { name: string; description: string | undefined } &
  /** An object. Its members include those of its `base`. It may have members besides those listed if `isOpen`. */
  (
    | { is: "object"; members: Member[]; base?: string; isOpen?: true }
    /** Current values. A minor version of the API may add others. */
    | { is: "values"; values: string[] }
  );

interface Operation {
  path: string;
  query: string;
  answer: string;
}

export interface ApiTypes {
  declarations: Declaration[];
  operations: Operation[];
}

/** Members whose types differ between kinds of record. The names of the types begin with the owner's name. */
const ambiguous = new Set(["type", "status", "basis", "code", "reason", "name", "structure"]);
/** Type names for members whose own name would mislead. */
const names: Readonly<Record<string, string>> = {
  gps: "LinkedGp",
  "QuotaPolicy.name": "QuotaName",
  document: "EvidenceDocument",
  "Evidence.basis": "ProvenanceBasis",
  files: "ExportedFile",
  "ExportedFile.format": "ExportFormat",
};
/** Returns the type name reserved for one owner's member. Returns undefined if there is none. */
function nameIn(owner: string, member: string): string | undefined {
  // Counts have one member for each kind of record, all of the same type.
  if (owner === "Counts") return "KindCounts";
  const [, records] = /^List(.+)$/.exec(owner) ?? [];
  if (records === undefined) return names[`${owner}.${member}`];
  // The parameters of a list are members of its records.
  if (member === "basis") return "ProvenanceBasis";
  const isOfRecord = member === "sort" || ambiguous.has(member);
  return isOfRecord ? singular(records) + pascal(member) : undefined;
}

/** Names of schemas that the clients need, although no page of records refers to them. */
const others = ["RecordChange", "ExportedDataset", "Explanation", "ParameterFault", "QuotaPolicy"];

const pascal = (name: string) =>
  name.replaceAll(/(?:^|[-_/])([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
/** Returns the singular of a list's name. `status` and `basis` are singular already. */
const singular = (name: string) => name.replace(/(?<![uis]|ie)s$/, "").replace(/ies$/, "y");

/** Returns the types of operations, exports, explanations and errors. @param description text of openapi.json. */
export function readTypes(description: string): ApiTypes {
  const { paths, components } = JSON.parse(description) as Description;
  const { schemas } = components;
  const declarations = new Map<string, Declaration>();
  /** Names of embedded parts of records, by the name of the whole record. */
  const embedded = new Map<string, string>();

  /** Returns the name of the whole record for a listed or embedded one. Returns any other name as it is. */
  const wholeOf = (owner: string): string => {
    const [, record = owner] = /^(?:Listed|Gp)(.+)$/.exec(owner) ?? [];
    return record in schemas ? record : owner;
  };

  /** Declares a type under its own name. The owner's name goes in front if that name is taken or ambiguous. */
  const declare = (owner: string, member: string, one: Declaration): Type => {
    const own = nameIn(owner, member) ?? names[member] ?? pascal(member);
    const owned = wholeOf(owner) + own;
    const candidates =
      ambiguous.has(member) && nameIn(owner, member) === undefined ? [owned] : [own, owned];
    for (const name of candidates) {
      const known = declarations.get(name);
      if (known === undefined && name in schemas) continue;
      if (known !== undefined && bodyOf(known) !== bodyOf(one)) continue;
      declarations.set(name, { ...one, name });
      return { is: "named", name };
    }
    throw new Error(`No name is left for the type of '${member}' of ${owner}.`);
  };

  const typeOf = (schema: Schema, owner: string, member: string): Type => {
    if (schema.$ref !== undefined) return { is: "named", name: lastOf(schema.$ref) };
    const types = [schema.type ?? "unknown"].flat();
    const isNullable = types.includes("null");
    const bare = bareTypeOf(
      schema,
      types.find((type) => type !== "null")!,
      owner,
      member,
    );
    return isNullable ? { is: "nullable", of: bare } : bare;
  };

  const bareTypeOf = (schema: Schema, type: string, owner: string, member: string): Type => {
    const { description } = schema;
    const values = schema.enum?.filter((value) => value !== null);
    if (values !== undefined)
      return declare(owner, member, {
        is: "values",
        name: "",
        description: undefined,
        values: values as string[],
      });
    if (type === "array")
      return {
        is: "list",
        of: typeOf(
          schema.items ?? {},
          owner,
          names[member] === undefined ? singular(member) : member,
        ),
      };
    if (type === "object" && Object.keys(schema.properties ?? {}).length > 0) {
      const name = names[member] ?? pascal(member);
      const isEmbedded = name in schemas && nameIn(owner, member) === undefined;
      const part = isEmbedded ? wholeOf(owner) + name : name;
      const members = membersOf(schema, part);
      if (isEmbedded) embedded.set(name, part);
      return declare(owner, member, { is: "object", name: "", description, members });
    }
    const known = ["string", "number", "integer", "boolean", "object"] as const;
    return { is: "scalar", name: known.find((one) => one === type) ?? "unknown" };
  };

  const membersOf = ({ properties = {}, required = [] }: Schema, owner: string): Member[] =>
    Object.entries(properties).map(([name, property]) => ({
      name,
      description: property.description,
      isRequired: required.includes(name),
      type: typeOf(property, owner, name),
    }));

  const asked = Object.entries(paths).filter(([path]) =>
    /^\/(?:fetch-.*|list-.*|changes)$/.test(path),
  );
  // Operations refer to the schemas of their records in `components`.
  const used = schemasBehind([asked, others.map(refTo)], schemas);
  for (const [name, schema] of Object.entries(schemas)) {
    if (!used.has(name)) continue;
    const { description } = schema;
    const members = membersOf(schema, name);
    declarations.set(name, { is: "object", name, description, members });
  }
  // `errors` belongs to only one code, but programs read these faults of a query, so they need its type.
  const { errors } = schemas["InvalidParametersProblem"]!.properties!;
  const { properties, required } = schemas["Problem"]!;
  declarations.set("Problem", {
    is: "object",
    name: "Problem",
    description: "An error of the service; `code` tells which, and which other members it has.",
    members: membersOf(
      { properties: { ...properties, errors: errors! }, required: required! },
      "Problem",
    ),
    isOpen: true,
  });
  for (const [whole, part] of embedded) {
    const [one, base] = [declarations.get(whole), declarations.get(part)];
    if (one?.is === "object" && base?.is === "object" && hasAll(one.members, base.members))
      one.base = part;
  }

  const operations: Operation[] = [];
  for (const [path, { get }] of asked) {
    const answer = get?.responses["200"]?.content?.["application/json"]?.schema;
    if (get === undefined || answer?.properties === undefined) continue;
    const base = pascal(get.operationId);
    const query = (get.parameters ?? []).filter(
      (one): one is Parameter => "in" in one && one.in === "query",
    );
    declarations.set(`${base}Query`, {
      is: "object",
      name: `${base}Query`,
      description: `Parameters of \`${path}\`.`,
      members: query.map(({ name, description, required = false, schema }) => {
        const type = typeOf(schema, base, name);
        return {
          name,
          description,
          isRequired: required,
          type: type.is === "list" ? { ...type, mayBeOne: true } : type,
        };
      }),
    });
    declarations.set(`${base}Answer`, {
      is: "object",
      name: `${base}Answer`,
      description: get.summary,
      members: membersOf(answer, `${base}Answer`),
    });
    operations.push({ path, query: `${base}Query`, answer: `${base}Answer` });
  }
  return { declarations: [...declarations.values()], operations };
}

const hasAll = (members: readonly Member[], part: readonly Member[]): boolean => {
  const texts = new Set(members.map((one) => JSON.stringify(one)));
  return part.every((one) => texts.has(JSON.stringify(one)));
};

const refTo = (name: string) => `#/components/schemas/${name}`;

/** Returns the names of the schemas that a part of the description refers to, directly or through others. */
function schemasBehind(
  part: unknown,
  schemas: Description["components"]["schemas"],
  names = new Set<string>(),
): Set<string> {
  for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    if (names.has(name!)) continue;
    names.add(name!);
    schemasBehind(schemas[name!], schemas, names);
  }
  return names;
}

/** Returns a text that is equal for equal types, whatever their names. */
const bodyOf = (one: Declaration): string => JSON.stringify({ ...one, name: "", description: "" });

const lastOf = (ref: string) => ref.slice(ref.lastIndexOf("/") + 1);
