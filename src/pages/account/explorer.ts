/** The page that sends any call of the API and shows its answer, with the lines that send it from elsewhere. */
import { operations } from "#operations/index.ts";
import type { Operation } from "#operations/operation.ts";
import { bodyText, html, type Html, type Part } from "#pages/html.ts";
import { codeBlock, copyBlock } from "#pages/code-block.ts";
import { grouped, prose } from "#pages/prose.ts";
import type { CallLines } from "./call-lines.ts";
import { explorerForm, type FormView } from "./explorer-form.ts";
import { faultNote } from "./fields.ts";
import { accountPage, type Frame } from "./frame.ts";

export interface ExplorerAnswer {
  /** Such as `200 OK`. */
  status: string;
  /** Those worth reading. */
  headers: readonly (readonly [name: string, value: string])[];
  /** JSON. */
  text: string;
  /** Bytes of the whole body, where only a part is shown. */
  cutFromBytes: number | null;
  /** What is wrong with the parameters. */
  fault: string | undefined;
}

interface ExplorerView extends FormView {
  frame: Frame | null;
  /** Null until something is asked. */
  asked: { target: string; lines: CallLines; answer: ExplorerAnswer } | null;
}

export function explorerPage(view: ExplorerView): string {
  const { frame, operation, asked } = view;
  return accountPage({
    title: "Explorer",
    frame,
    scripts: ["explorer.js"],
    main: html`<h1>What does <code>${operation.path}</code> answer?</h1>
      ${operationLinks(operation)}
      <p>${operation.summary} ${prose(operation.description)}</p>
      ${explorerForm(view)} ${asked !== null && [answerSection(asked), linesSection(asked.lines)]}`,
  });
}

const operationLinks = (current: Operation): Html =>
  html`<nav class="tabs" aria-label="Operations">
    ${operations.map(
      ({ name }) =>
        html`<a
          href="/account/explorer?operation=${name}"
          ${name === current.name && html`aria-current="page"`}
          >${name}</a
        > `,
    )}
  </nav>`;

const answerSection = ({ target, answer }: NonNullable<ExplorerView["asked"]>): Html =>
  html`<section>
    <h2 id="answer">${answer.status}</h2>
    ${faultNote(answer.fault)}
    <p class="mono">GET ${target}</p>
    <dl class="facts">
      ${answer.headers.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd class="mono">${value}</dd>
          </div>`,
      )}
    </dl>
    ${cutNote(answer)}
    <div class="answer">${codeBlock("Body of the answer", bodyText(answer.text))}</div>
  </section>`;

const cutNote = ({ cutFromBytes }: ExplorerAnswer): Part =>
  cutFromBytes !== null &&
  html`<p>
    Only a part is shown: the whole answer has ${grouped(cutFromBytes)} bytes. The lines below fetch
    all of it.
  </p>`;

const linesSection = ({ curl, typescript, python }: CallLines): Html =>
  html`<section>
    <h2>The same call from elsewhere</h2>
    <h3>curl</h3>
    ${copyBlock("The call with curl", bodyText(curl))}
    <h3>TypeScript</h3>
    ${copyBlock("The call in TypeScript", bodyText(typescript))}
    <h3>Python</h3>
    ${copyBlock("The call in Python", bodyText(python))}
  </section>`;
