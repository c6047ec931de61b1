/** The first hour with filings, as docs/real-data.md has it, on a folder in the layouts of the SEC. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { readCorrections } from "#filings/corrections.ts";
import { outcomeOf } from "./support/command-line.ts";
import { asking, score } from "./support/filing-answers.ts";
import { writeFilingFolder } from "./support/filing-folder.ts";
import { hasTool } from "./support/machine.ts";
import { startServer } from "./support/server-process.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const page = readFileSync("docs/real-data.md", "utf8");
/** Blocks of the page by language: `sh` is to be typed, those without one are printed. */
const blocks = Map.groupBy(
  Array.from(page.matchAll(/^```(\w*)\n([^]*?)^```$/gm), ([, language, text]) => ({
    language: language!,
    lines: text!.trimEnd().split("\n"),
  })),
  ({ language }) => language,
);
const linesOf = (language: string) => blocks.get(language)!.map(({ lines }) => lines);

/** Returns a pattern of what begins as a sample does. `…` stands for anything, and for any lines if it stands alone; days go by. */
function patternOf(lines: readonly string[]): RegExp {
  const quoted = lines.map((line) =>
    line.trim() === "…"
      ? "(?:.*\\n)*?"
      : `${RegExp.escape(line.replaceAll(/\d+(?= days ago)/g, "…")).replaceAll("…", ".*")}\\n`,
  );
  return new RegExp(`^${quoted.join("")}`);
}

test(
  "the first hour of docs/real-data.md works word by word within ten minutes: folder, import, lookup, explanation, and the GPs are right",
  { timeout: 600_000 },
  async (t) => {
    if (!hasTool(t, "curl")) return;
    const place = temporaryFolder(t);
    symlinkSync(resolve("bin"), join(place, "bin"));
    const folder = join(place, "downloads/sec");
    mkdirSync(folder, { recursive: true });
    const invented = await writeFilingFolder(folder);
    const dataDir = join(place, "data");
    const run = async (line: string) => {
      const script = `cd '${place}' && ${line}`;
      const environment = { ...process.env, DATA_DIR: dataDir };
      const { exitCode, out, err } = await outcomeOf("bash", ["-c", script], environment);
      assert.equal(exitCode, 0, `${line}: ${err}`);
      return out;
    };
    const [first, look, ask] = linesOf("sh") as [string[], string[], string[]];
    const [report, explained] = linesOf("") as [string[], string[]];
    let printed = "";
    for (const line of first.slice(0, -1)) printed += await run(line);
    assert.match(printed, patternOf(report));
    const key = /gpr_\w{36}/.exec(printed)![0];

    assert.equal(first.at(-1), "bin/gp-records serve");
    const server = await startServer(t, { dataDir });
    const [exported = "", ...requests] = look;
    const setting = exported.replace("gpr_…", key);
    assert.notEqual(setting, exported);
    for (const line of requests) {
      const out = await run(`${setting} && ${line.replace("http://127.0.0.1:8080", server.url)}`);
      // Signals of the last days are those of a clock that goes on.
      if (!line.includes("date_from"))
        assert.ok(JSON.parse(out).data.length > 0, `${line}: ${out}`);
      else assert.ok(Array.isArray(JSON.parse(out).data), out);
    }
    assert.match(await run(ask.join(" && ")), patternOf(explained));
    server.signal("SIGTERM");
    await server.ended;

    const { precision, recall, ...others } = await score(await asking(t, dataDir), invented);
    t.diagnostic(`precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`);
    assert.ok(precision >= 0.95 && recall >= 0.9, JSON.stringify(others));
  },
);

test("every correction that docs/real-data.md prints is one", () => {
  const [lines] = linesOf("json") as [string[]];
  assert.equal(readCorrections(Buffer.from(lines.join("\n")), "page").length, lines.length);
});
