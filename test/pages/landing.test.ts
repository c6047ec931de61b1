import assert from "node:assert/strict";
import { test } from "node:test";
import { problemAnswer } from "#http/send-answer.ts";
import { quotaProblem } from "#limits/quota-problem.ts";
import { operations } from "#operations/index.ts";
import { docsPage, type KeyFacts } from "#pages/docs.ts";
import {
  errorPage,
  errorsPage,
  exampleProblem,
  exampleProblemBody,
  exampleRequestId,
} from "#pages/errors.ts";
import { landingIndex, landingPage, readLandingRecords } from "#pages/landing.ts";
import { commonMembers, parameterFaultCodes, problemCodes, problemKinds } from "#problems/kinds.ts";
import { demoSource } from "#records/common.ts";
import { Type } from "#records/schema.ts";
import { gp, signal } from "../datasets/published.ts";
import { modelOf } from "../support/dataset.ts";
import { docsFacts, publicPages, serviceFacts, site } from "../support/public-pages.ts";
import { startService } from "../support/service.ts";

test("the landing page says what the dataset holds, since when, and has a line of curl to copy", () => {
  const page = landingPage(serviceFacts);
  for (const count of ["12,873", "48,211", "166,004", "9,312"])
    assert.ok(page.includes(`<dd>${count}</dd>`));
  assert.match(
    page,
    /Updated\s+<time datetime="2026-11-20T03:00:00Z">2026-11-20 03:00:00 UTC<\/time>/,
  );
  const named = landingPage({ ...serviceFacts, publicUrl: "https://records.example" });
  const curl = `curl -H "x-api-key: YOUR_KEY" "https://records.example/fetch-gp?gp_name=capital"`;
  assert.ok(named.includes(curl));
});

test("an operator's landing page has its name, sources with dates, what is covered, and whom to ask", () => {
  const page = landingPage({ ...serviceFacts, site: { ...site, name: "Northwind" } });
  assert.match(page, /<h1>\s*Northwind\s*<\/h1>/);
  assert.match(page, /own<\/th>\s*<td[^>]*><time datetime="2026-11-20T03:00:00Z">20 Nov 2026/);
  assert.match(page, /Values that no source states are left empty/);
  assert.ok(page.includes('<a href="mailto:records@example.org">records@example.org</a>'));
  assert.doesNotMatch(page, /invented/);
});

test("the landing page offers search where everybody sees records, and signing in where members do", () => {
  const everyone = landingPage(serviceFacts);
  assert.match(everyone, /action="\/search"/);
  assert.match(everyone, /href="\/browse\/gps">Browse the records/);
  const members = landingPage({ ...serviceFacts, site: { ...site, browse: "members" } });
  assert.doesNotMatch(members, /action="\/search"|Browse the records/);
  assert.match(members, /class="button" href="\/account">Sign in/);
  const none = landingPage({
    ...serviceFacts,
    site: { ...site, hasAccounts: false },
    account: null,
  });
  assert.doesNotMatch(none, /href="\/(?:browse|search|account)\/?"/);
});

test("a demo's landing page says that its records are invented, and asks questions by links into them", async (t) => {
  const { url } = await startService(t, {
    settings: { BROWSE: "everyone", CONTACT: "a@b.example" },
  });
  const page = landingPage({ ...serviceFacts, sources: [[demoSource, "2026-11-20T03:00:00Z"]] });
  assert.match(page, /invented records/);
  const links = [...page.matchAll(/<li>\s*<a href="(\/browse\/[^"]*)"/g)].map(([, href]) => href!);
  assert.equal(links.length, 4);
  for (const href of links.filter((one) => one.includes("?")))
    assert.equal((await fetch(url + href.replaceAll("&amp;", "&"))).status, 200, href);
});

test("where everybody sees records, the landing page shows markets on a map, latest signals and months", async (t) => {
  const shown = async (browse: string) => {
    const settings = { BROWSE: browse, CONTACT: "records@example.org" };
    return (await (await startService(t, { settings })).get("/", { "x-api-key": "" })).text;
  };
  const everyone = await shown("everyone");
  assert.match(everyone, /<h3>Latest signals<\/h3>.*href="\/browse\/gps\/gp_/s);
  assert.match(everyone, /Signals by month and kind/);
  assert.doesNotMatch(await shown("members"), /Latest signals|href="\/browse\/gps\/gp_/);
});

test("the landing page reads signals a few at a time, so that other work runs in between", async (t) => {
  const signals = Array.from({ length: 1100 }, (_, i) => signal(`s${i}`));
  const model = await modelOf(t, [gp("a", { markets: ["Austin, TX"] }), ...signals]);
  let steps = 0;
  const prepare = (...asked: Parameters<typeof model.prepare>) =>
    model.prepare(...asked).map(() => void steps++) as Generator<void>;
  await readLandingRecords({ ...model, prepare });
  assert.ok(steps > 8, String(steps));
});

test("without a dataset the landing page says so and what happens next", () => {
  const page = landingPage({ ...serviceFacts, dataset: null });
  assert.match(page, /No records are published yet/);
  assert.doesNotMatch(page.replaceAll(/<pre.*?<\/pre>/gs, ""), /null|undefined/);
});

test("programs get the links as JSON, absolute where the public URL is known", () => {
  const relative = landingIndex(serviceFacts);
  assert.deepEqual(
    relative.operations.map(({ name, url }) => [name, url]),
    operations.map(({ name, path }) => [name, path]),
  );
  assert.equal(relative.links.openapi, "/openapi.json");
  assert.deepEqual(relative.dataset, serviceFacts.dataset);
  const publicUrl = "https://records.example/api";
  const absolute = landingIndex({ ...serviceFacts, dataset: null, publicUrl });
  assert.equal(absolute.links.docs, "https://records.example/api/docs");
  assert.equal(absolute.dataset, null);
});

test("every page below /docs is linked from /docs and from the landing page", () => {
  const below = [...publicPages().keys()].filter((path) => path.startsWith("/docs/"));
  assert.ok(below.length >= 3);
  for (const page of [landingPage(serviceFacts), docsPage(docsFacts)])
    for (const path of below) assert.match(page, new RegExp(`<a\\s+href="${path}"\\s*>`));
});

test("a stranger is told on the landing page and in the docs how to get a key on this server", () => {
  const url = "/account";
  for (const page of [
    (facts: KeyFacts) => landingPage({ ...serviceFacts, ...facts }),
    (facts: KeyFacts) => docsPage({ ...docsFacts, ...facts }),
  ]) {
    const told = (facts: Partial<KeyFacts>) =>
      page({ account: { url, isOpen: true }, isDemo: false, ...facts });
    assert.match(told({}), /<a href="\/account\/sign-up">Sign up<\/a>/);
    assert.doesNotMatch(told({}), /demo/);
    const closed = told({ account: { url, isOpen: false } });
    assert.doesNotMatch(closed, /sign-up/);
    assert.match(closed, /Ask the operator.*href="\/account">sign in/s);
    const none = told({ account: null });
    assert.match(none, /Ask the operator of this service for an API key/);
    assert.doesNotMatch(none, /sign in/);
    const demo = told({ isDemo: true });
    assert.match(demo, /This is a demo: the key that it printed.*href="\/account\/sign-up"/s);
  }
  assert.equal(landingIndex(serviceFacts).links.account, url);
  assert.equal("account" in landingIndex({ ...serviceFacts, account: null }).links, false);
});

/** The table of errors that programs rely on: status, code and title. */
const promised = `
400 invalid-parameters One or more query parameters are not valid
400 malformed-request The request could not be read
401 api-key-missing No API key was sent
401 api-key-invalid The API key is not valid
401 api-key-expired The API key has expired
401 api-key-revoked The API key was revoked
403 access-denied The key may not do this
404 unknown-path There is nothing at this path
405 method-not-allowed This method is not allowed here
406 not-acceptable None of the accepted formats is available
408 request-timeout The request did not arrive in time
413 content-too-large The request body is too large
414 uri-too-long The request address is too long
415 unsupported-media-type The body is of a type that is not read here
416 range-not-satisfiable The range lies beyond the file
417 expectation-failed The expectation cannot be met
429 quota-exceeded Request cannot be satisfied as assigned quota has been exceeded
431 headers-too-large The request headers are too large
500 internal-error Something went wrong on our side
503 unavailable The service cannot answer right now
`;

test("every error has the promised status and title", () => {
  const rows = problemCodes.map((code) => {
    const { status, title } = problemKinds[code];
    return `${status} ${code} ${title}`;
  });
  assert.deepEqual(rows, promised.trim().split("\n"));
});

test("the index and the docs lead to every error, with status and title", () => {
  for (const page of [errorsPage(site), docsPage(docsFacts)])
    for (const code of problemCodes) {
      const { status, title } = problemKinds[code];
      const row = page.slice(page.indexOf(`<a href="/errors/${code}"><code>${code}</code></a>`));
      const cells = row.slice(0, row.indexOf("</tr>"));
      assert.match(cells, new RegExp(`>${status}</td><td>${title}</td>`));
    }
});

test("the example of every error is, byte for byte, what the service would send", () => {
  for (const code of problemCodes) {
    const { body } = problemAnswer(exampleProblem(code), exampleRequestId);
    assert.equal(JSON.stringify(exampleProblemBody(code)), body.toString(), code);
  }
});

test("the example of a used-up quota is what the limiter says", () => {
  const window = (
    name: "minute" | "hour" | "day",
    numbers: readonly number[],
    waitSeconds: number,
  ) => {
    const [quota = 0, windowSeconds = 0, remaining = 0, resetSeconds = 0] = numbers;
    return { name, quota, windowSeconds, remaining, resetSeconds, waitSeconds };
  };
  const problem = quotaProblem({
    admitted: false,
    violated: ["minute"],
    retryAfterSeconds: 23,
    windows: [
      window("minute", [60, 60, 0, 23], 23),
      window("hour", [1000, 3600, 412, 90], 0),
      window("day", [10_000, 86_400, 8123, 811], 0),
    ],
  });
  assert.deepEqual(exampleProblem("quota-exceeded"), problem);
});

test("the page of every error shows its example, and type and meaning of each member that is declared and of no other", () => {
  for (const code of problemCodes) {
    const page = errorPage(site, code);
    assert.ok(page.includes(`<h1>${problemKinds[code].title}</h1>`), code);
    assert.ok(page.includes(`"code": <i>"${code}"</i>`), code);
    const rows = page
      .slice(page.indexOf("<h2>Members</h2>"))
      .matchAll(/<dt><code>([^<]+)<\/code>\s*<span>(.+?)<\/span>\s*<\/dt>\s*<dd>(.+?)<\/dd>/gs);
    const declared = Type.Object({ ...commonMembers, ...problemKinds[code].members });
    assert.deepEqual(
      [...rows].map(([, member]) => member),
      Object.keys(declared.properties),
      code,
    );
    assert.deepEqual(Object.keys(exampleProblemBody(code)), declared.required, code);
  }
});

test("the page of invalid parameters explains every code of a fault, and no other page does", () => {
  for (const fault of parameterFaultCodes) {
    assert.ok(
      errorPage(site, "invalid-parameters").includes(`<code id="${fault}">${fault}</code>`),
      fault,
    );
    assert.ok(!errorPage(site, "unavailable").includes(`<code id="${fault}">`), fault);
  }
});
