/** The errors of an operation, in OpenAPI's words. */
import { listedMax, parameterFaultCodes, problemCodes, problemKinds } from "#problems.ts";

/** Statuses an operation may answer with beside 200 and 304. */
export const describedProblems = [
  ...new Set(problemCodes.map((code) => problemKinds[code].status)),
].toSorted((a, b) => a - b);

export function problemResponse(status: number): object {
  const codes = problemCodes.filter((code) => problemKinds[code].status === status);
  return {
    description: codes.map((code) => `\`${code}\`: ${problemKinds[code].title}.`).join(" "),
    ...((status === 429 || status === 503) && {
      headers: {
        "Retry-After": {
          description: "Whole seconds to wait.",
          schema: { type: "integer", minimum: 1 },
        },
      },
    }),
    content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
  };
}

export const problemSchemas = {
  Problem: {
    type: "object",
    description: "RFC 9457. Each code has further members; its page at /errors/{code} names them.",
    properties: {
      type: { type: "string", format: "uri-reference" },
      title: { type: "string" },
      status: { type: "integer" },
      detail: { type: "string" },
      code: { type: "string", enum: [...problemCodes] },
      request_id: { type: "string" },
      errors: {
        type: "array",
        maxItems: listedMax,
        items: { $ref: "#/components/schemas/ParameterFault" },
      },
      errors_total: {
        type: "integer",
        description: "How many faults there are, where `errors` lists only the first of them.",
      },
    },
    required: ["type", "title", "status", "detail", "code", "request_id"],
  },
  ParameterFault: {
    type: "object",
    properties: {
      parameter: { type: "string" },
      code: { type: "string", enum: [...parameterFaultCodes] },
      detail: { type: "string" },
      suggestion: { type: "string" },
      minimum: { type: "integer" },
      maximum: { type: "integer" },
      allowed: { type: "array", items: { type: "string" } },
      allowed_on: { type: "array", items: { type: "string" } },
    },
    required: ["parameter", "code", "detail"],
  },
} as const;
