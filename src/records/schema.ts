/** Makes JSON Schemas of the types that TypeBox gives them, without TypeBox: a server describes records and checks none. */
import type TypeBox from "typebox";

export type { Static, TArray, TObject, TOptional, TSchema, TString } from "typebox";

type Maker = Pick<
  typeof TypeBox,
  "Array" | "Integer" | "Number" | "Object" | "Optional" | "String" | "Unsafe"
>;

/** By this TypeBox too tells members that may be left out. */
const optionalMark = "~optional";

function objectSchema(properties: Record<string, object>, options?: object): object {
  const names = Object.keys(properties);
  const required = names.filter((name) => !Object.hasOwn(properties[name]!, optionalMark));
  return { type: "object", ...(required.length > 0 && { required }), properties, ...options };
}

/** To load TypeBox takes longer than to load all else a server needs; only what checks records does. */
export const Type = {
  Array: (items: object, options?: object) => ({ type: "array", items, ...options }),
  Integer: (options?: object) => ({ type: "integer", ...options }),
  Number: (options?: object) => ({ type: "number", ...options }),
  Object: objectSchema,
  Optional: (schema: object) => Object.defineProperty({ ...schema }, optionalMark, { value: true }),
  String: (options?: object) => ({ type: "string", ...options }),
  Unsafe: (schema: object) => schema,
} as unknown as Maker;
