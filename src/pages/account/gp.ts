/** The page of one GP: its names, what it does, its people, signals and projects, and who says so. */
import { html, type Html, type Part } from "#pages/html.ts";
import { grouped } from "#pages/prose.ts";
import { timeElement } from "#pages/times.ts";
import { cutText } from "./fitting.ts";
import { accountPage, type Frame } from "./frame.ts";
import { gpFacts } from "./gp-facts.ts";
import { peopleSection } from "./gp-people.ts";
import { projectsSection, type ShownProjects } from "./gp-projects.ts";
import { timelineSection } from "./gp-timeline.ts";
import { money, place } from "./record-words.ts";
import { byPoints } from "./signal-list.ts";

interface GpView extends ShownProjects {
  frame: Frame | null;
}

const descriptionLengthMax = 1000;
/** Markup of all lists, and of people and of projects at most: signals are the most, and have what is left. */
const bytesMax = { lists: 32_000, people: 8000, projects: 8000 } as const;

export function gpPage(view: GpView): string {
  const { frame, gp } = view;
  const people = peopleSection(gp, bytesMax.people);
  const projects = projectsSection(view, bytesMax.projects);
  const used = people.markup.length + projects.markup.length;
  return accountPage({
    title: gp.name,
    frame,
    main: html`<div class="records">
      <h1>${gp.name}</h1>
      <p class="lede">${byPoints(inShort(view))}</p>
      ${gp.description !== null && html`<p>${cutText(gp.description, descriptionLengthMax)}</p>`}
      ${gpFacts(view)} ${timelineSection(view, bytesMax.lists - used)} ${people} ${projects}
      <p class="muted">
        Last changed ${timeElement(gp.updated_at)}. Its id, which finds it alone as
        <code>gp_name</code>: <code>${gp.id}</code>
      </p>
    </div>`,
  });
}

const inShort = ({ gp, projectsTotal }: GpView): Part[] => [
  place(gp.hq_city, gp.hq_state, gp.hq_country),
  gp.aum_usd !== null && `${money(gp.aum_usd)} under management`,
  counted("timeline", gp.signals_total, "signal", "signals"),
  counted("people", gp.principals_total, "person", "people"),
  counted("projects", projectsTotal, "project", "projects"),
];

const counted = (anchor: string, count: number, one: string, many: string): Html =>
  html`<a href="#${anchor}">${grouped(count)} ${count === 1 ? one : many}</a>`;
