import assert from "node:assert/strict";
import { test } from "node:test";
import { declarations, membersOf } from "#records/declarations.ts";
import { demoSource } from "#records/common.ts";
import type { Site } from "#pages/layout.ts";
import { privacyPage, type PrivacyFacts } from "#pages/privacy.ts";
import { privacyFacts, site } from "../support/public-pages.ts";
import { wordsOf } from "../support/record-pages.ts";
import { startService } from "../support/service.ts";

const wordsWith = (facts: Partial<PrivacyFacts>, ofSite: Partial<Site> = {}) =>
  wordsOf(privacyPage({ ...privacyFacts, site: { ...site, ...ofSite }, ...facts }));

test("/privacy names every member of a person's record, the sources, and where to object", () => {
  const page = privacyPage(privacyFacts);
  for (const [name] of membersOf(declarations.principal.schema))
    assert.ok(page.includes(`<code>${name}</code>`), name);
  assert.ok(page.includes("<code>own</code>") && page.includes("2026-11-20 03:00:00 UTC"));
  assert.ok(page.includes('<a href="mailto:records@example.org">records@example.org</a>'));
  const contact = "https://records.example/people";
  assert.ok(
    privacyPage({ ...privacyFacts, site: { ...site, contact } }).includes(
      `<a href="${contact}">${contact}</a>`,
    ),
  );
  assert.match(wordsWith({}, { contact: null }), /Write to the operator of this service\./);
  const label = "Sources of the records";
  assert.ok(page.includes(label) && !privacyPage({ ...privacyFacts, sources: [] }).includes(label));
});

test("/privacy says how long things are kept by the settings in force", () => {
  const usual = wordsWith({});
  assert.match(usual, /Each request with a key: .*, parameters 14 days/);
  assert.match(usual, /A view you follow: .*Until its feed stops .*The audit log: [^.]*For good/);
  assert.match(usual, /The newest 10 published datasets are kept/);
  const other = wordsWith({ usageLogDays: 0, usageLogParameters: false, auditDays: 30 });
  assert.match(other, /Each request with a key: [^.]*size Not kept/);
  assert.match(other, /The audit log: [^.]*? 30 days/);
  const signIns = wordsWith({ sessionDays: 3, knownBrowserDays: 90, endedLinkDays: 1 });
  for (const said of [
    "Until it ends, 3 days at most",
    "last use 90 days",
    "1 day after it expires",
  ])
    assert.ok(signIns.includes(said), said);
  assert.match(wordsWith({ datasetsKeep: 0 }), /All earlier datasets are kept/);
  assert.doesNotMatch(wordsWith({ changesDays: 0 }), /changes between datasets are kept/);
});

test("/privacy says who sees records, and that invented people are invented", () => {
  assert.match(wordsWith({}), /Everybody can read the pages of records, without e-mail addresses/);
  assert.doesNotMatch(wordsWith({}, { browse: "members" }), /Everybody can read/);
  const demo = wordsWith({ sources: [[demoSource, "2026-11-20T03:00:00Z"]] });
  assert.match(demo, /All records of this service are invented/);
  assert.doesNotMatch(demo, /linkedin_url/);
});

test("/privacy says what the records are not for, and that the SEC does not review filings", () => {
  const words = wordsWith({});
  assert.match(words, /are not for decisions about anybody's credit, employment or tenancy\./);
  assert.match(words, /too, and so may the words of filings that explain a record/);
  assert.match(words, /Data from filings was reported to the SEC, which does not review it\./);
});

test("a server's /privacy has its settings and sources", async (t) => {
  const service = await startService(t, {
    settings: { CONTACT: "records@example.org", USAGE_LOG_DAYS: "3", SERVICE_NAME: "Northwind" },
  });
  const words = wordsOf((await service.get("/privacy", { "x-api-key": "" })).text);
  const times = [" own ", ...[3, 180, 400].map((days) => ` ${days} days `)];
  for (const said of ["Northwind", "records@example.org", ...times])
    assert.ok(words.includes(said), said);
});
