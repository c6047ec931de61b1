/** Describes `/changes` and its steps in OpenAPI. */
import {
  changesPath,
  changesSummary,
  PublishedChange,
  RecordChange,
  stepPath,
  stepSummary,
} from "#operations/changes.ts";
import { headersOn } from "./described-headers.ts";
import { ifNoneMatch, otherAnswers, ref } from "./described-common.ts";

export const changesTag = "Changes";

export const changesSchemas = { PublishedChange, RecordChange };

const pathVersion = (name: string, description: string) => ({
  name,
  in: "path",
  required: true,
  description,
  schema: { type: "string", pattern: "^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}$" },
});

/** @param paging parameters of a list, as each operation takes them. */
export const describeChanges = (paging: readonly object[]) => ({
  [changesPath]: {
    get: {
      operationId: "changes",
      tags: [changesTag],
      summary: changesSummary,
      description: "Newest first. Counts one request.",
      parameters: [...paging, ifNoneMatch],
      responses: {
        200: {
          description: "A page of publications.",
          headers: headersOn(200),
          content: {
            "application/json": {
              schema: {
                type: "object",
                properties: {
                  data: { type: "array", items: ref("PublishedChange") },
                  pagination: ref("Pagination"),
                  meta: ref("Meta"),
                },
                required: ["data", "pagination", "meta"],
              },
            },
          },
        },
        ...otherAnswers,
      },
    },
  },
  [stepPath]: {
    get: {
      operationId: "step",
      tags: [changesTag],
      summary: stepSummary,
      description:
        "A head, then a line for each change, ordered by kind and id. Counts one request for every 100 changes sent, rounded up.",
      parameters: [
        pathVersion("from", "The dataset it begins at."),
        pathVersion("to", "The dataset it leads to."),
        {
          name: "limit",
          in: "query",
          description: "Most changes to send; all if left out.",
          schema: { type: "integer", minimum: 1 },
        },
        {
          name: "offset",
          in: "query",
          description: "Changes to skip; the head is sent only with 0.",
          schema: { type: "integer", minimum: 0, default: 0 },
        },
        ifNoneMatch,
      ],
      responses: {
        200: {
          description: "The step, or the requested part of it.",
          headers: headersOn(200),
          content: { "application/x-ndjson": { schema: ref("RecordChange") } },
        },
        ...otherAnswers,
      },
    },
  },
});
