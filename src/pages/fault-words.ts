/** What each code in `errors[].code` means and what puts it right. */
import { parameterBounds } from "#operations/parameter-names.ts";
import type { ParameterFault } from "#problems.ts";

/** Backticks mark code. */
export const faultMeanings: Readonly<Record<ParameterFault["code"], string>> = {
  missing: "A required parameter is not there. Add it.",
  too_short: "The text has fewer characters than `minimum`. Write more of the name.",
  too_long: "The text has more characters than `maximum`. Shorten it.",
  empty_value: "The parameter is there without a value. Give it one, or leave the parameter out.",
  not_an_integer:
    "The value is not a row of the digits 0 to 9. Signs, decimal points and spaces are not taken.",
  out_of_range: "The number is below `minimum` or above `maximum`. It is never clamped for you.",
  unknown_parameter:
    "The operation has no such parameter; `allowed` lists those it has. `suggestion` is the nearest name, `allowed_on` the operations that know this one.",
  repeated_parameter:
    "The parameter may be given only once. Only `tag`, `theme` and `market` may be repeated.",
  too_many_values: `The parameter is given more than ${parameterBounds.valuesMax} times. Ask in several requests.`,
  invalid_encoding:
    "Name or value is not percent-encoded UTF-8, or holds a control character. Let your HTTP library encode it.",
};
