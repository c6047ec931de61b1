/** The form of one operation: all its parameters, with what is known of each. */
import type { Operation } from "#operations/operation.ts";
import { parametersOf, type ParameterName } from "#operations/parameter-names.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import {
  isRepeatable,
  parameterMeanings,
  parameterNeed,
  parameterRule,
} from "#pages/parameter-words.ts";
import { prose } from "#pages/prose.ts";
import type { ParameterFault } from "#problems.ts";
import { hidden } from "./fields.ts";
import { fitting } from "./fitting.ts";

export interface FormView {
  operation: Operation;
  pageSizeMax: number;
  /** What was sent, in its order. */
  typed: readonly (readonly [name: string, value: string])[];
  /** What is wrong with it. */
  faults: readonly ParameterFault[];
  /** Known values of a parameter, the likeliest first. */
  known: Readonly<Partial<Record<ParameterName, readonly string[]>>>;
}

export const explorerForm = (view: FormView): Html =>
  html`<form class="card explorer" action="/account/explorer#answer" autocomplete="off">
    ${hidden("operation", view.operation.name)}
    <div class="fields">${parametersOf(view.operation).map((name) => fieldsOf(view, name))}</div>
    <button>Send request</button>
    <p class="muted">
      A request from here counts one of the account's quota, like one with a key. Pages count none.
    </p>
    ${parametersOf(view.operation).map((name) => datalist(name, view.known[name]))}
  </form>`;

/** A parameter that may be repeated has a field for each value, and an empty one for the next. */
function fieldsOf(view: FormView, name: ParameterName): Html {
  const values = view.typed.filter(([one]) => one === name).map(([, value]) => value);
  const given = values.filter((value) => value !== "");
  const [first = "", ...others] = isRepeatable(name) ? [...given, ""] : given.slice(0, 1);
  return html`<div>
    <label
      ><code>${name}</code>
      <span class="muted">${parameterNeed(name, view.operation)}</span>
      ${input(view, name, first)}</label
    >
    ${others.map((value) => html`<label class="muted">or ${input(view, name, value)}</label>`)}
    ${view.faults.filter(({ parameter }) => parameter === name).map(({ detail }) => html`<p class="fault">${detail}</p>`)}
    <p class="muted">${prose(parameterMeanings[name])} ${rule(view, name)}</p>
  </div>`;
}

const rule = ({ operation, pageSizeMax }: FormView, name: ParameterName): string => {
  const text = parameterRule(name, operation, pageSizeMax);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
};

const input = ({ known }: FormView, name: ParameterName, value: string): Html =>
  html`<input
    name="${name}"
    value="${value}"
    ${known[name] !== undefined && html`list="known-${name}" data-suggest="${name}"`}
    ${(name === "limit" || name === "offset") && html`inputmode="numeric"`}
  />`;

const datalistBytesMax = 4000;

const datalist = (name: ParameterName, values: readonly string[] | undefined): Part =>
  values !== undefined &&
  html`<datalist id="known-${name}">
    ${fitting(
      values.map((value) => html`<option value="${value}"></option>`),
      datalistBytesMax,
    )}
  </datalist>`;
