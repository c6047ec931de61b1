/** Imports of a folder that grows, in which sponsors turn out to be one, are parted, get CRD numbers and are corrected. */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Catalogue } from "#datasets/catalogue.ts";
import { mintId } from "#datasets/draft-record.ts";
import type { AdviserFiling, Correction, FormD } from "#filings/rows.ts";
import { fold } from "#records/fold.ts";
import { recordKinds } from "#records/kinds.ts";
import { day, rows } from "../datasets/published.ts";
import { type Random, repeat, seededRandom } from "../support/awkward/random.ts";
import { importRecords, openCurrent, temporaryCatalogue } from "../support/dataset.ts";
import { person } from "./form-d.ts";
import { adviserOf, formD, fundOf, ownerOf, resolved, type World } from "./world.ts";

const publicId = (kind: "gp" | "principal", key: string) => mintId(kind, "sec", key);

const houses = ["Alder Ridge", "Birch Hollow", "Cedar Point", "Dogwood Park", "Elm Crossing"];
const firsts = ["JONATHAN", "JONATHON", "MARGARET", "DAVID", "CHARLES"];
const lasts = ["WHITTAKER", "WHITTACKER", "MOSS", "FERNANDEZ"];

/** A folder that only grows, but for corrections, which may be withdrawn. */
function openFolder({ below, between, chance, pick, some }: Random) {
  const forms: FormD[] = [];
  const advisers = new Map<string, AdviserFiling[]>();
  const corrections: Correction[] = [];
  /** CIKs in random order, so that a later vehicle may have a lower one. */
  const ciks = some(
    200,
    repeat(200, (i) => i + 1),
  );
  let made = 0;
  const date = () => `2026-01-${String((++made % 28) + 1).padStart(2, "0")}`;
  const people = (house: string) =>
    repeat(between(1, 3), () =>
      person(
        pick(firsts),
        pick(lasts),
        chance(0.8) ? `Manager of ${house} Capital LLC, the Manager of the Issuer` : null,
      ),
    );
  const file = (cik: number, house: string, name: string, type: "D" | "D/A") =>
    forms.push(
      formD({
        cik,
        name,
        type,
        accession: `${String(cik).padStart(10, "0")}-26-${String(++made).padStart(6, "0")}`,
        filedOn: date(),
        state: pick(["TX", "CA"]),
        address: `${house} ${below(3)}`,
        soldUsd: between(1, 50) * 1e6,
        persons: people(house),
      }),
    );
  const vehicles: { cik: number; house: string; name: string }[] = [];
  const addVehicle = () => {
    const house = pick(houses);
    const name = chance(0.5)
      ? `${house} Real Estate Fund ${made}, LP`
      : `${made} Main Apartments, LLC`;
    const vehicle = { cik: ciks.pop()!, house, name };
    vehicles.push(vehicle);
    file(vehicle.cik, house, name, "D");
  };
  const amend = () => {
    const { cik, house, name } = pick(vehicles);
    file(cik, chance(0.8) ? house : pick(houses), name, "D/A");
  };
  const report = () => {
    const house = pick(houses);
    const crd = String(100 + houses.indexOf(house) * 2 + below(2));
    const owners = repeat(between(1, 3), () =>
      ownerOf(`${pick(lasts)}, ${pick(firsts)}`, {
        crd: chance(0.7) ? String(between(1, 9)) : null,
      }),
    );
    const filed = advisers.get(crd) ?? [];
    filed.push(
      adviserOf(crd, `${house} Capital LLC`, {
        filingId: `f${++made}`,
        filedOn: `2026-02-${String(filed.length + 1).padStart(2, "0")}`,
        state: pick(["TX", "CA"]),
        owners,
        funds: [fundOf(`${house} Real Estate Fund`)],
      }),
    );
    advisers.set(crd, filed);
  };
  const correct = ({ gps, all }: ReturnType<typeof resolved>) => {
    const idOf = (kind: "gp" | "principal", key: string) =>
      chance(0.5) ? key : publicId(kind, key);
    const gpId = () => idOf("gp", pick(gps).key);
    const someone = () => idOf("principal", pick(all("principal")).id);
    const { vehicles: own } = pick(gps.filter((one) => one.vehicles.length > 0));
    const { cik, filings } = pick(own);
    const given = { why: "the operator knows", line: ++made };
    corrections.push(
      pick<Correction>([
        { ...given, kind: "is", gp: gpId(), name: `${pick(houses)} Partners` },
        { ...given, kind: "same", gps: [gpId(), gpId()] },
        { ...given, kind: "sponsor", cik, gp: gpId() },
        { ...given, kind: "apart", gp: idOf("gp", `cik:${cik}`), ciks: [cik] },
        { ...given, kind: "personApart", person: someone(), accessions: [pick(filings).accession] },
        {
          ...given,
          kind: "personField",
          person: someone(),
          field: "email",
          value: "a@example.com",
        },
      ]),
    );
  };
  return {
    /** Adds files, and corrects what was made of those before. */
    grow(before: ReturnType<typeof resolved> | null): void {
      for (let left = between(2, 5); left > 0; left--) addVehicle();
      for (let left = below(4); left > 0; left--) pick([amend, report])();
      if (before === null) return;
      if (chance(0.7)) correct(before);
      if (chance(0.3)) corrections.splice(below(corrections.length), 1);
    },
    world: (): World => ({
      forms: [...forms],
      advisers: [...advisers].sort(([a], [b]) => Number(a) - Number(b)).map(([, filed]) => filed),
      corrections: [...corrections],
      publicId,
    }),
  };
}

/** Imports a folder's entries. @throws if the import is refused or rejects an entry. */
async function importFolder(
  catalogue: Catalogue,
  { entries }: ReturnType<typeof resolved>,
  number: number,
) {
  const options = { source: "sec", entries, nowMilliseconds: day(number) };
  const { outcome, collected } = await importRecords(catalogue, [], options);
  assert.notEqual(outcome, "refused");
  assert.deepEqual(collected.rejections.listed, []);
}

/** Records by kind and key, with keys in place of ids and without what later imports may tell otherwise. */
function contentOf(catalogue: Catalogue): object {
  const keyOf = new Map<string, string>();
  for (const { source_id, public_id } of rows(catalogue, "select * from canonical"))
    keyOf.set(public_id, source_id);
  const content: Record<string, object> = {};
  for (const kind of recordKinds)
    for (const { id, document } of rows(catalogue, `select id, document from ${kind}`)) {
      const { updated_at: _, former_ids: __, ...rest } = JSON.parse(document);
      for (const gp of rest.gps ?? []) gp.id = keyOf.get(gp.id);
      content[`${kind} ${keyOf.get(id)}`] = { ...rest, id: keyOf.get(id) };
    }
  return content;
}

/** Keys of the GPs and persons that are named: of each vehicle with a GP, of each adviser that is one, and of their people. */
function keysNamed({ forms = [], advisers = [] }: World, { gps }: ReturnType<typeof resolved>) {
  const subjects = new Set(
    gps.flatMap(({ crds, vehicles }) => [
      ...crds.map((crd) => `crd:${crd}`),
      ...vehicles.map(({ cik }) => `cik:${cik}`),
    ]),
  );
  const people = [
    ...forms.flatMap(({ issuers, persons }) =>
      persons.map(({ first, last }) => [`cik:${issuers[0]!.cik}`, `${first} ${last}`] as const),
    ),
    ...advisers
      .flat()
      .flatMap(({ crd, owners }) =>
        owners.map(({ name }) => [`crd:${crd}`, name.split(", ").reverse().join(" ")] as const),
      ),
  ].filter(([subject]) => subjects.has(subject));
  return {
    gp: subjects,
    principal: new Set(people.map(([subject, name]) => `${subject}/${fold(name)}`)),
  };
}

async function followSequence(t: TestContext, seed: number) {
  const folder = openFolder(seededRandom(seed));
  const catalogue = temporaryCatalogue(t);
  const published = { gp: new Set<string>(), principal: new Set<string>() };
  const happened = { former: 0, parted: 0, answered: 0 };
  let last: ReturnType<typeof resolved> | null = null;
  let former = new Set<string>();
  for (let number = 1; number <= 12; number++) {
    folder.grow(last);
    last = resolved(folder.world());
    await importFolder(catalogue, last, number);
    const named = keysNamed(folder.world(), last);
    const model = openCurrent(catalogue);
    for (const kind of ["gp", "principal"] as const) {
      for (const { id } of rows(catalogue, `select id from ${kind}`)) published[kind].add(id);
      for (const key of named[kind])
        for (const end of ["", "/2", "/3", ...repeat(9, (i) => `/${i + 1}`)]) {
          const id = publicId(kind, key + end);
          if (!published[kind].has(id)) continue;
          const { total } = model.select(kind, { id: [id] }, { limit: 1, offset: 0 });
          assert.equal(total, 1, `seed ${seed}, import ${number}: ${key}${end} does not answer`);
          happened.answered++;
        }
    }
    for (const [key, gp] of last.gps.flatMap((one) =>
      one.vehicles.map(({ cik }) => [`cik:${cik}`, one] as const),
    )) {
      const { positions } = model.select(
        "gp",
        { id: [publicId("gp", key)] },
        { limit: 1, offset: 0 },
      );
      if (published.gp.has(publicId("gp", key)))
        assert.equal(
          rows(catalogue, `select source_id from gp where position = ${positions[0]}`)[0]![
            "source_id"
          ],
          gp.key,
        );
    }
    const now = new Set(
      rows(catalogue, "select former_id from former_id").map((row) => row["former_id"] as string),
    );
    happened.former += now.size;
    happened.parted += [...former].filter((id) => !now.has(id)).length;
    former = now;
  }
  const fresh = temporaryCatalogue(t);
  await importFolder(fresh, last!, 20);
  assert.deepEqual(contentOf(catalogue), contentOf(fresh), `seed ${seed}`);
  return happened;
}

test("over twelve imports of a folder that grows and is corrected, every published id of who is still named answers, none is refused, and the records are those of one import of all", async (t) => {
  const all = { former: 0, parted: 0, answered: 0 };
  for (let seed = 1; seed <= 3; seed++) {
    const happened = await followSequence(t, seed);
    for (const key of Object.keys(all) as (keyof typeof all)[]) all[key] += happened[key];
  }
  t.diagnostic(JSON.stringify(all));
  for (const count of Object.values(all)) assert.ok(count > 0, JSON.stringify(all));
});

test("ten orders of the files give one hash", async (t) => {
  const random = seededRandom(7);
  const folder = openFolder(random);
  folder.grow(null);
  folder.grow(resolved(folder.world()));
  const hashes = new Set<string>();
  for (let order = 0; order < 10; order++) {
    const { forms = [], ...world } = folder.world();
    const catalogue = temporaryCatalogue(t);
    await importFolder(
      catalogue,
      resolved({ ...world, forms: random.some(forms.length, forms) }),
      1,
    );
    hashes.add(catalogue.current()!.hash);
  }
  assert.equal(hashes.size, 1);
});
