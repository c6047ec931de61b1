/** The description of the API (OpenAPI 3.1), made from what the service runs on, so that it cannot differ. */
import { Gp } from "#records/gp.ts";
import { Principal } from "#records/principal.ts";
import { Project } from "#records/project.ts";
import { Signal } from "#records/signal.ts";
import type { FilterName, Operation } from "#operations/operation.ts";
import { apiVersion } from "#operations/page.ts";
import { parameterBounds } from "#operations/parameter-names.ts";
import { parameterMeanings } from "#pages/parameter-words.ts";
import { describedHeaders } from "./described-headers.ts";
import { describedProblems, problemResponse, problemSchemas } from "./described-problems.ts";
import { pageSchemas } from "./described-page.ts";

const records = { Gp, Principal, Signal, Project };

/** @param pageSizeMax the operator's largest page. */
export function describeApi(operations: readonly Operation[], pageSizeMax: number): object {
  return {
    openapi: "3.1.1",
    info: {
      title: "gp-records",
      version: apiVersion,
      license: { name: "MIT", identifier: "MIT" },
      description:
        "Records of real-estate General Partners (GPs), their principals, market signals and projects. Read-only. " +
        "Each path is also served under /v1 with identical answers.",
    },
    servers: [{ url: "/" }],
    security: [{ apiKey: [] }],
    paths: Object.fromEntries(
      operations.map((operation) => [
        operation.path,
        { get: describeOperation(operation, pageSizeMax) },
      ]),
    ),
    components: {
      securitySchemes: {
        apiKey: {
          type: "apiKey",
          in: "header",
          name: "x-api-key",
          description: "Given by the operator.",
        },
      },
      headers: describedHeaders,
      responses: Object.fromEntries(
        describedProblems.map((status) => [`Problem${status}`, problemResponse(status)]),
      ),
      schemas: {
        ...records,
        ...pageSchemas,
        ...problemSchemas,
      },
    },
  };
}

function describeOperation(operation: Operation, pageSizeMax: number): object {
  const recordName = Object.entries(records).find(([, schema]) => schema === operation.record)![0];
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  return {
    operationId: operation.name,
    summary: operation.summary,
    description: operation.description,
    parameters: [
      ...operation.filters.map((name) => describeFilter(name, operation)),
      ...describePaging(pageSizeMax),
    ],
    responses: {
      200: {
        description: "A page of records; `data` is empty where none satisfies the query.",
        headers: Object.fromEntries(
          Object.keys(describedHeaders).map((name) => [
            name,
            { $ref: `#/components/headers/${name}` },
          ]),
        ),
        content: {
          "application/json": {
            schema: {
              type: "object",
              properties: {
                data: { type: "array", items: ref(recordName) },
                pagination: ref("Pagination"),
                meta: ref("Meta"),
              },
              required: ["data", "pagination", "meta"],
            },
          },
        },
      },
      304: { description: "Unchanged since the answer whose ETag was sent in `If-None-Match`." },
      ...Object.fromEntries(
        describedProblems.map((status) => [
          status,
          { $ref: `#/components/responses/Problem${status}` },
        ]),
      ),
    },
  };
}

function describeFilter(name: FilterName, { gpName }: Operation): object {
  const { gpNameLengthMax, valueLengthMax, valuesMax } = parameterBounds;
  const common = { name, in: "query", description: parameterMeanings[name] };
  if (name === "gp_name")
    return {
      ...common,
      required: gpName.isRequired,
      schema: { type: "string", minLength: gpName.lengthMin, maxLength: gpNameLengthMax },
    };
  return {
    ...common,
    required: false,
    style: "form",
    explode: true,
    schema: {
      type: "array",
      maxItems: valuesMax,
      items: { type: "string", minLength: 1, maxLength: valueLengthMax },
    },
  };
}

function describePaging(pageSizeMax: number): object[] {
  const { limitDefault, offsetMax } = parameterBounds;
  return [
    {
      name: "limit",
      in: "query",
      description: parameterMeanings.limit,
      schema: { type: "integer", minimum: 1, maximum: pageSizeMax, default: limitDefault },
    },
    {
      name: "offset",
      in: "query",
      description: parameterMeanings.offset,
      schema: { type: "integer", minimum: 0, maximum: offsetMax, default: 0 },
    },
  ];
}
