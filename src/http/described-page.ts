/** The envelope of an answer, in OpenAPI's words. */
import { hintCodes } from "#operations/hints.ts";

const whole = { type: "integer", minimum: 0 };

export const pageSchemas = {
  Pagination: {
    type: "object",
    properties: {
      limit: whole,
      offset: whole,
      returned: { ...whole, description: "Records on this page." },
      total: { ...whole, description: "Records that satisfy the query; exact." },
      has_more: { type: "boolean" },
      next_offset: { type: ["integer", "null"], minimum: 1 },
    },
    required: ["limit", "offset", "returned", "total", "has_more", "next_offset"],
  },
  Meta: {
    type: "object",
    properties: {
      api_version: { type: "string" },
      dataset_version: {
        type: "string",
        description:
          "Pages of one version neither repeat nor miss a record; when it changes, begin again.",
      },
      dataset_updated_at: { type: "string", format: "date-time" },
      hints: { type: "array", items: { $ref: "#/components/schemas/Hint" } },
    },
    required: ["api_version", "dataset_version", "dataset_updated_at", "hints"],
  },
  Hint: {
    type: "object",
    properties: {
      code: { type: "string", enum: [...hintCodes] },
      parameter: { type: ["string", "null"] },
      message: { type: "string" },
      suggestions: { type: "array", items: { type: "string" }, maxItems: 3 },
    },
    required: ["code", "parameter", "message", "suggestions"],
  },
} as const;
