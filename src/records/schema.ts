/** Makes JSON Schemas with TypeBox's static types without loading TypeBox: a server validates no records. */
import type TypeBox from "typebox";

export type { Static, TObject, TProperties, TSchema } from "typebox";

type Maker = Pick<
  typeof TypeBox,
  "Array" | "Boolean" | "Integer" | "Number" | "Object" | "Optional" | "String" | "Unsafe"
>;

/** The part of JSON Schema that records use. */
export interface MemberSchema {
  type?: string | readonly string[];
  description?: string;
  enum?: readonly (string | null)[];
  pattern?: string;
  maxLength?: number;
  format?: string;
  minimum?: number;
  maximum?: number;
  items?: MemberSchema;
  properties?: Readonly<Record<string, MemberSchema>>;
  required?: readonly string[];
}

/** Property with which TypeBox marks optional members. */
const optionalMark = "~optional";

function objectSchema(properties: Record<string, object>, options?: object): object {
  const names = Object.keys(properties);
  const required = names.filter((name) => !Object.hasOwn(properties[name]!, optionalMark));
  return { type: "object", ...(required.length > 0 && { required }), properties, ...options };
}

/** Schema builders. TypeBox takes longer to load than the rest of a server, so only validation loads it. */
export const Type = {
  Array: (items: object, options?: object) => ({ type: "array", items, ...options }),
  Boolean: (options?: object) => ({ type: "boolean", ...options }),
  Integer: (options?: object) => ({ type: "integer", ...options }),
  Number: (options?: object) => ({ type: "number", ...options }),
  Object: objectSchema,
  Optional: (schema: object) => Object.defineProperty({ ...schema }, optionalMark, { value: true }),
  String: (options?: object) => ({ type: "string", ...options }),
  Unsafe: (schema: object) => schema,
} as unknown as Maker;
