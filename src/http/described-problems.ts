/** Describes the errors of an operation in OpenAPI: a schema for each code, a response for each status. */
import {
  commonMembers,
  ParameterFault,
  problemCodes,
  problemKinds,
  QuotaPolicy,
  type ProblemCode,
} from "#problems.ts";
import { Type, type TSchema } from "#records/schema.ts";
import { headersOn } from "./described-headers.ts";

/** Statuses of an operation besides 200 and 304. */
const statuses = [...new Set(problemCodes.map((code) => problemKinds[code].status))].toSorted(
  (a, b) => a - b,
);

const componentOf = (status: number) => `Problem${status}`;

/** Status that only files have. */
const ofRanges = problemKinds["range-not-satisfiable"].status;

/** References to the error responses of everything except files, by status. */
export const problemAnswers = Object.fromEntries(
  statuses
    .filter((status) => status !== ofRanges)
    .map((status) => [status, { $ref: `#/components/responses/${componentOf(status)}` }]),
);

export const problemResponses = Object.fromEntries(
  statuses.map((status) => [componentOf(status), describeStatus(status)]),
);

function describeStatus(status: number): object {
  const codes = problemCodes.filter((code) => problemKinds[code].status === status);
  const paths = codes.map((code) => `#/components/schemas/${schemaName(code)}`);
  const refs = paths.map(($ref) => ({ $ref }));
  const mapping = Object.fromEntries(codes.map((code, i) => [code, paths[i]]));
  const schema =
    codes.length === 1
      ? refs[0]
      : { oneOf: refs, discriminator: { propertyName: "code", mapping } };
  return {
    description: codes.map((code) => `\`${code}\`: ${problemKinds[code].title}.`).join(" "),
    headers: headersOn(status),
    content: { "application/problem+json": { schema } },
  };
}

/** Returns the name of a schema: `quota-exceeded` → `QuotaExceededProblem`. */
function schemaName(code: ProblemCode): string {
  return `${code.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Problem`;
}

export const problemSchemas = {
  Problem: {
    ...Type.Object({
      ...commonMembers,
      code: Type.Unsafe({ ...commonMembers.code, enum: [...problemCodes] }),
    }),
    description: "The members of every error (RFC 9457). Its `code` says which others it has.",
  },
  ...Object.fromEntries(problemCodes.map((one) => [schemaName(one), describeCode(one)])),
  ParameterFault,
  QuotaPolicy,
};

function describeCode(code: ProblemCode): object {
  const { status, title, members } = problemKinds[code];
  const own = Object.entries(members).map(([name, schema]) => [name, withReference(schema)]);
  return {
    description: `${title}.`,
    allOf: [{ $ref: "#/components/schemas/Problem" }],
    ...Type.Object({
      status: Type.Unsafe({ type: "integer", enum: [status] }),
      code: Type.Unsafe({ type: "string", enum: [code] }),
      ...Object.fromEntries(own),
    }),
  };
}

/** Makes lists of objects refer to a named schema, so that client generators emit a type for it. */
function withReference(schema: TSchema): object {
  const { items } = schema as { items?: object };
  if (items === ParameterFault)
    return { ...schema, items: { $ref: "#/components/schemas/ParameterFault" } };
  if (items === QuotaPolicy)
    return { ...schema, items: { $ref: "#/components/schemas/QuotaPolicy" } };
  return schema;
}
