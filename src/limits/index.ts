export * from "./clock.ts";
export * from "./counters.ts";
export * from "./failed-keys.ts";
export * from "./memory-counters.ts";
export * from "./policy.ts";
export * from "./quota-problem.ts";
export * from "./rate-limit-fields.ts";
