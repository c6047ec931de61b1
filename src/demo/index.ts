export * from "./invent.ts";
