import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openCatalogue } from "#datasets/catalogue.ts";
import { mintId } from "#datasets/draft-record.ts";
import type { Evidence } from "#records/canonical.ts";
import { day, evidenceOf, gp, principal, project, signal } from "../datasets/published.ts";
import { allCommands } from "../support/all-commands.ts";
import { flipByte } from "../support/damage.ts";
import { entriesOf, importRecords } from "../support/dataset.ts";
import { eventually } from "../support/eventually.ts";
import { callTool } from "../support/mcp.ts";
import { textOf, wordsOf } from "../support/record-pages.ts";
import { startService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { signedIn } from "../support/user.ts";

const named = { basis: "sponsor_text", confidence: 0.9, url: "https://www.sec.gov/1" };
const shared = { basis: "cluster", confidence: 0.6, url: "https://www.sec.gov/2" };
const refused = { is_taken: 0 as const, basis: "issuer_stem" as const, confidence: 0.3 };
const why = "it is named after this deal";

/** Records with what is filed of each. */
const filed: readonly (readonly [object, Evidence[]?])[] = [
  [gp("alder", { name: "Alder Ridge Capital", provenance: named }), [evidenceOf(1)]],
  [gp("brindle", { name: "Brindlewood Group", provenance: shared, former_ids: ["old"] })],
  [principal("rena", ["brindle"], { name: "Rena Quill", provenance: shared }), [evidenceOf(2)]],
  [
    project("quarry", { name: "Quarry <Flats>", gps: ["alder"], provenance: named }),
    [
      evidenceOf(3, { text: "Manager of <b>Alder</b> Ridge Capital" }),
      evidenceOf(1, { ...refused, firm: "Quarry Flats, LLC", why, others: ["a-7", "a-8"] }),
    ],
  ],
  [
    project("sallow", { name: "412 Sallow Street", provenance: { ...named, basis: "stated" } }),
    [
      evidenceOf(4, {
        ...refused,
        firm: null,
        text: "Ann Sallow: director",
        why: "a person is not a sponsor",
      }),
    ],
  ],
  [signal("sold", { gps: ["alder"] })],
];

async function publish(t: TestContext, records = filed) {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const entries = records.map(([record, evidence = []]) => ({
    ...entriesOf([record])[0]!,
    evidence,
  }));
  await importRecords(catalogue, [], { entries, nowMilliseconds: day(1) });
  return { dataDir, path: catalogue.pathOf(catalogue.currentVersion()!) };
}

const idOf = (kind: "gp" | "principal" | "project" | "signal", own: string) =>
  mintId(kind, "own", own);
const folders = { gp: "gps", principal: "people", project: "projects" } as const;

test("a record is explained alike over HTTP, to an agent, by the command and on its page", async (t) => {
  const { dataDir } = await publish(t);
  const service = await startService(t, { records: null, dataDir });
  const { json } = allCommands(dataDir);
  const user = await signedIn(service);
  const statements = [
    ["gp", "alder", "Alder Ridge Capital: named in the text of a filing, confidence 90 %."],
    [
      "principal",
      "rena",
      "Probably Brindlewood Group: identified from people and addresses shared by several filings, confidence 60 %.",
    ],
    ["project", "quarry", "Alder Ridge Capital: named in the text of a filing, confidence 90 %."],
    ["project", "sallow", "No filing names a sponsor."],
    [
      "gp",
      "brindle",
      "Probably Brindlewood Group: identified from people and addresses shared by several filings, confidence 60 %. Source 'own' gives no evidence.",
    ],
  ] as const;
  for (const [kind, own, statement] of statements) {
    const id = idOf(kind, own);
    const { status, body } = await service.get(`/explain/${id}`);
    assert.equal(status, 200);
    const { data } = body;
    assert.deepEqual([data.id, data.kind, data.statement], [id, kind, statement]);
    assert.deepEqual(await json("explain", own), [data]);
    const { structuredContent } = await callTool(service, "explain", { id });
    assert.deepEqual(structuredContent.data, [data]);
    const page = await user.get(`/browse/${folders[kind]}/${id}`);
    const card = /<h2>Why this name.*?<\/section>/s.exec(page.text)![0];
    assert.ok(textOf(wordsOf(card)).includes(statement), card);
    for (const { text, why: reason, document } of data.evidence) {
      assert.ok(textOf(card).includes(`“${text}”`), card);
      assert.ok(textOf(card).includes(`${reason}.`), card);
      assert.ok(
        card.includes(`<a href="${document.url}" rel="noopener noreferrer">${document.number}</a>`),
      );
    }
  }
  const { data } = (await service.get(`/explain/${idOf("project", "quarry")}`)).body;
  const [taken, rival] = data.evidence;
  assert.deepEqual([taken.taken, taken.document.number], [true, "a-3"]);
  assert.deepEqual([rival.taken, rival.why, rival.firm], [false, why, "Quarry Flats, LLC"]);
  assert.equal(data.documents_left_out, 2);
});

test("an explanation that is too long for an agent is cut, and says so", async (t) => {
  const long = (letter: string) => letter.repeat(500);
  const quoted = { text: long("é"), filer: long("ü"), firm: long("ß"), why: long("<") };
  const many = Array.from({ length: 20 }, (_, i) => evidenceOf(i, quoted));
  const { dataDir } = await publish(t, [[gp("alder", { name: long("ø") }), many]]);
  const service = await startService(t, { records: null, dataDir });
  const id = idOf("gp", "alder");
  const { data } = (await service.get(`/explain/${id}`)).body;
  assert.equal(data.evidence.length, 20);
  const { structuredContent, content } = await callTool(service, "explain", { id });
  const [told] = structuredContent.data;
  assert.deepEqual(told, { ...data, evidence: data.evidence.slice(0, told.evidence.length) });
  assert.ok(told.evidence.length > 0 && told.evidence.length < 20);
  assert.ok(Buffer.byteLength(JSON.stringify({ structuredContent, content })) <= 32_000);
  assert.match(structuredContent.meta.hints[0].message, /truncated\. The HTTP API returns/);
});

test("an explanation counts as one request, has a tag, and is that of the record in place of a former one", async (t) => {
  const { dataDir } = await publish(t);
  const service = await startService(t, { records: null, dataDir });
  const left = ({ headers }: { headers: Headers }) =>
    Number(/r=(\d+)/.exec(headers.get("ratelimit")!)![1]);
  const id = idOf("gp", "brindle");
  const first = await service.get(`/explain/${id}`);
  assert.deepEqual(Object.keys(first.body), ["data", "meta"]);
  const former = await service.get(`/v1/explain/${idOf("gp", "old")}`);
  assert.equal(left(former), left(first) - 1);
  assert.deepEqual(former.body, first.body);
  const etag = first.headers.get("etag")!;
  for (const tags of [etag, "*"]) {
    const { status, text } = await service.get(`/explain/${id}`, { "if-none-match": tags });
    assert.deepEqual([status, text], [304, ""]);
  }
  const head = await service.get(`/explain/${id}`, {}, "HEAD");
  assert.deepEqual([head.status, head.text, head.headers.get("etag")], [200, "", etag]);
  for (const [path, status] of [
    [`/explain/${id}?limit=1`, 400],
    ["/explain/gp_0000000000000000", 404],
    [`/explain/${idOf("signal", "sold")}`, 404],
    [`/explain/${id}/`, 404],
    ["/explain/", 404],
    ["/explain/brindle", 404],
    ["/explain", 404],
  ] as const) {
    const answer = await service.get(path, { "if-none-match": "*" });
    assert.equal(answer.status, status, path);
    assert.equal(answer.body.code, status === 400 ? "invalid-parameters" : "unknown-path");
  }
  assert.equal((await service.get(`/explain/${id}`, { accept: "text/csv" })).status, 406);
  assert.equal((await service.get(`/explain/${id}`, { "x-api-key": "" })).status, 401);
  const { isError, content } = await callTool(service, "explain", { id: "gp_nobody" });
  assert.ok(isError);
  assert.match(content[0]!.text, /There is nothing at \/explain\/gp_nobody\. Take the id of a GP/);
});

test("flipped bits in evidence are an error that the log names, and never another sentence", async (t) => {
  const { dataDir, path } = await publish(t);
  const service = await startService(t, { records: null, dataDir });
  const user = await signedIn(service);
  const sentence = "Manager of <b>Alder</b> Ridge Capital";
  flipByte(path, readFileSync(path).indexOf(sentence));
  const id = idOf("project", "quarry");
  const { status, body, text } = await service.get(`/explain/${id}`);
  assert.deepEqual([status, body.code], [500, "internal-error"]);
  assert.ok(!text.includes("Ridge"));
  const called = await callTool(service, "explain", { id });
  assert.match(called.content[0]!.text, /"code":"internal-error"/);
  const page = await user.get(`/browse/projects/${id}`);
  assert.equal(page.status, 200);
  assert.match(
    page.text,
    /Why this name.*The evidence for this record is damaged, so it is not shown\./s,
  );
  assert.ok(!page.text.includes("of &lt;b&gt;"));
  await eventually(async () => {
    const damage = `the evidence of ${id} does not match its checksum`;
    const lines = service.log.filter((line) => line.includes(damage));
    assert.equal(lines.length, 3, service.log.join("\n"));
    for (const line of lines) assert.ok(line.includes("datasets publish VERSION"), line);
  });
  // What is sound is still explained.
  assert.equal((await service.get(`/explain/${idOf("gp", "alder")}`)).status, 200);
});

test("while a dataset that was removed is being replaced, an explanation is a 503, and pages say so", async (t) => {
  const { dataDir, path } = await publish(t);
  const service = await startService(t, { records: null, dataDir });
  const user = await signedIn(service);
  const id = idOf("project", "quarry");
  assert.equal((await user.get(`/browse/projects/${id}`)).status, 200);
  rmSync(path);
  const { status, body, headers } = await service.get(`/explain/${id}`);
  assert.deepEqual([status, body.code, body.reason], [503, "unavailable", "starting"]);
  assert.equal(headers.get("retry-after"), "1");
  const page = await user.get(`/browse/projects/${id}`);
  assert.equal(page.status, 200);
  assert.match(page.text, /Why this name.*is being replaced\. Try again in a second\./s);
});
