export * from "./csv.ts";
export * from "./encoding.ts";
export * from "./import-fault.ts";
export * from "./mapping.ts";
export * from "./mapping-schema.ts";
export * from "./ndjson.ts";
export * from "./read-mapping.ts";
export * from "./source-file.ts";
