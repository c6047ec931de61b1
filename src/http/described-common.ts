/** Parts that all paths of the OpenAPI description share: references to its components, and every answer except a 200. */
import { headersOn } from "./described-headers.ts";
import { problemAnswers } from "./described-problems.ts";

export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

export const ifNoneMatch = { $ref: "#/components/parameters/IfNoneMatch" };

export const parameterComponents = {
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description:
      "`ETag` of an answer you have kept, or several separated by commas. If you would get the same answer again, you get a 304 without a body. It counts one request.",
    schema: { type: "string" },
    example: 'W/"20261120T030000Z-9f3c2a7e-mJ0kQ2"',
  },
};

export const otherAnswers = {
  304: {
    description: "Unchanged since the answer whose ETag was sent in `If-None-Match`.",
    headers: headersOn(304),
  },
  ...problemAnswers,
};
