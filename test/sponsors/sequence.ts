/** A folder of invented filings that grows from quarter to quarter and is corrected, in memory, and what holds of each import of it. */
import assert from "node:assert/strict";
import type { Catalogue } from "#datasets/catalogue.ts";
import { mintId } from "#datasets/draft-record.ts";
import type { Correction } from "#filings/corrections.ts";
import type { AdviserFiling, FormD } from "#filings/rows.ts";
import { fold } from "#records/fold.ts";
import { recordKinds } from "#records/kinds.ts";
import { documents, rows } from "../datasets/published.ts";
import { type Random, repeat, seededRandom } from "../support/awkward/random.ts";
import { openCurrent } from "../support/dataset.ts";
import { person } from "./form-d.ts";
import { adviserOf, formD, fundOf, ownerOf, resolved, type World } from "./world.ts";

const publicId = (kind: "gp" | "principal", key: string) => mintId(kind, "sec", key);

const quarterCount = 12;
const houses = ["Alder Ridge", "Birch Hollow", "Cedar Point", "Dogwood Park", "Elm Crossing"];
const firsts = ["JONATHAN", "JONATHON", "MARGARET", "DAVID", "CHARLES"];
const lasts = ["WHITTAKER", "WHITTACKER", "MOSS", "FERNANDEZ"];

export type GrowingFolder = ReturnType<typeof openFolder>;

/** Opens a folder that only grows, by quarters in any order, but for corrections, which may be withdrawn. */
export function openFolder({ below, between, chance, pick, some }: Random) {
  const forms: FormD[] = [];
  const advisers = new Map<string, AdviserFiling[]>();
  const corrections: Correction[] = [];
  /** CIKs in random order, so that a later vehicle may have a lower one. */
  const ciks = some(
    200,
    repeat(200, (i) => i + 1),
  );
  const quarters = some(
    quarterCount,
    repeat(quarterCount, (i) => i),
  );
  let made = 0;
  const date = (quarter: number) => {
    const [year, month] = [2024 + Math.floor(quarter / 4), (quarter % 4) * 3 + between(1, 3)];
    return `${year}-${String(month).padStart(2, "0")}-${String(between(1, 28)).padStart(2, "0")}`;
  };
  const people = (house: string) =>
    repeat(between(1, 3), () =>
      person(
        pick(firsts),
        pick(lasts),
        chance(0.8) ? `Manager of ${house} Capital LLC, the Manager of the Issuer` : null,
      ),
    );
  interface Vehicle {
    cik: number;
    house: string;
    name: string;
  }
  const vehicles: Vehicle[] = [];
  const fileNumberOf = ({ cik }: Vehicle) => `021-${100_000 + cik}`;
  const file = (vehicle: Vehicle, house: string, type: "D" | "D/A") => {
    const { cik, name } = vehicle;
    const filedOn = date(quarters[0]!);
    forms.push(
      formD({
        cik,
        name,
        type,
        fileNumber: fileNumberOf(vehicle),
        accession: `${String(cik).padStart(10, "0")}-${filedOn.slice(2, 4)}-${String(++made).padStart(6, "0")}`,
        filedOn,
        state: pick(["TX", "CA"]),
        address: `${house} ${below(3)}`,
        soldUsd: between(1, 50) * 1e6,
        persons: people(house),
      }),
    );
  };
  const addVehicle = () => {
    const house = pick(houses);
    const name = chance(0.5)
      ? `${house} Real Estate Fund ${made}, LP`
      : `${made} Main Apartments, LLC`;
    const vehicle = { cik: ciks.pop()!, house, name };
    vehicles.push(vehicle);
    file(vehicle, house, "D");
  };
  const amend = () => {
    const vehicle = pick(vehicles);
    file(vehicle, chance(0.8) ? vehicle.house : pick(houses), "D/A");
  };
  const report = () => {
    const house = pick(houses);
    const crd = String(100 + houses.indexOf(house) * 2 + below(2));
    const owners = repeat(between(1, 3), () =>
      ownerOf(`${pick(lasts)}, ${pick(firsts)}`, {
        crd: chance(0.7) ? String(between(1, 9)) : null,
      }),
    );
    const offering = pick(vehicles);
    const filed = advisers.get(crd) ?? [];
    filed.push(
      adviserOf(crd, `${house} Capital LLC`, {
        filingId: String(1_000_000 + ++made),
        filedOn: date(quarters[0]!),
        state: pick(["TX", "CA"]),
        owners,
        funds: [
          fundOf(`${house} Real Estate Fund`, {
            formDFiles: chance(0.3) ? [fileNumberOf(offering)] : [],
          }),
        ],
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
    const given = { why: "the operator knows", file: "corrections.ndjson", line: ++made };
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
  const byDate = (one: AdviserFiling, other: AdviserFiling) =>
    one.filedOn === other.filedOn
      ? Number(one.filingId) - Number(other.filingId)
      : Number(one.filedOn > other.filedOn) - 0.5;
  const world = (): World => ({
    forms: [...forms],
    advisers: [...advisers]
      .sort(([a], [b]) => Number(a) - Number(b))
      .map(([, filed]) => filed.toSorted(byDate)),
    corrections: [...corrections],
    publicId,
  });
  return {
    world,
    /** Adds the filings of another quarter, and corrects what was made of those before. */
    grow(): void {
      const before = forms.length === 0 ? null : resolved(world());
      for (let left = between(2, 5); left > 0; left--) addVehicle();
      for (let left = below(4); left > 0; left--) pick([amend, report])();
      quarters.shift();
      if (before === null) return;
      if (chance(0.7)) correct(before);
      if (chance(0.3)) corrections.splice(below(corrections.length), 1);
    },
  };
}

/** Records by kind and key, with keys in place of ids and without what later imports may tell otherwise. */
export function contentOf(catalogue: Catalogue): object {
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

/** Returns the id of the GP of each vehicle and adviser that has one, by the key that this gives. */
const gpsBySubject = (catalogue: Catalogue): Map<string, string> =>
  new Map(
    documents(catalogue, "gp").flatMap(({ id, external_ids: { crd = [], cik = [] } }) =>
      [...crd.map((one: string) => `crd:${one}`), ...cik.map((one: string) => `cik:${one}`)].map(
        (key) => [key, id] as const,
      ),
    ),
  );

/** Returns the keys of the people of some vehicles and advisers. */
function peopleOf({ forms = [], advisers = [] }: World, subjects: ReadonlyMap<string, string>) {
  const all = [
    ...forms.flatMap(({ issuers, persons }) =>
      persons.map(({ first, last }) => [`cik:${issuers[0]!.cik}`, `${first} ${last}`] as const),
    ),
    ...advisers
      .flat()
      .flatMap(({ crd, owners }) =>
        owners.map(({ name }) => [`crd:${crd}`, name.split(", ").reverse().join(" ")] as const),
      ),
  ];
  const named = all.filter(([subject]) => subjects.has(subject));
  return new Set(named.map(([subject, name]) => `${subject}/${fold(name)}`));
}

export interface Imports {
  catalogue: Catalogue;
  /** Imports a folder. @throws if the import is refused or rejects an entry. */
  importFolder(folder: GrowingFolder, number: number): Promise<void>;
}

/**
 * Imports a folder twelve times while it grows. After each import every id that was ever published of a GP or person who
 * is still named answers, and in the end the records are those of one import into an empty place.
 * @returns how many ids lead on, were given back and answered.
 */
export async function followSequence(
  seed: number,
  { catalogue, importFolder }: Imports,
  fresh: Imports,
) {
  const folder = openFolder(seededRandom(seed));
  const published = { gp: new Set<string>(), principal: new Set<string>() };
  const happened = { former: 0, parted: 0, answered: 0 };
  let former = new Set<string>();
  for (let number = 1; number <= quarterCount; number++) {
    folder.grow();
    await importFolder(folder, number);
    const subjects = gpsBySubject(catalogue);
    const model = openCurrent(catalogue);
    const found = (kind: "gp" | "principal", id: string) =>
      model.select(kind, { id: [id] }, { limit: 1, offset: 0 });
    for (const kind of ["gp", "principal"] as const)
      for (const { id } of rows(catalogue, `select id from ${kind}`)) published[kind].add(id);
    for (const [key, holder] of subjects) {
      const id = publicId("gp", key);
      if (!published.gp.has(id)) continue;
      const { total, positions } = found("gp", id);
      assert.equal(total, 1, `seed ${seed}, import ${number}: ${key} does not answer`);
      const [gp] = rows(catalogue, `select id from gp where position = ${positions[0]}`);
      assert.equal(gp!["id"], holder, `seed ${seed}, import ${number}: ${key}`);
      happened.answered++;
    }
    for (const key of peopleOf(folder.world(), subjects))
      for (const end of ["", ...repeat(9, (i) => `/${i + 1}`)]) {
        const id = publicId("principal", key + end);
        if (!published.principal.has(id)) continue;
        const { total } = found("principal", id);
        assert.equal(total, 1, `seed ${seed}, import ${number}: ${key}${end} does not answer`);
        happened.answered++;
      }
    const now = new Set(
      rows(catalogue, "select former_id from former_id").map((row) => row["former_id"] as string),
    );
    happened.former += now.size;
    happened.parted += [...former].filter((id) => !now.has(id)).length;
    former = now;
  }
  await fresh.importFolder(folder, quarterCount + 1);
  assert.deepEqual(contentOf(catalogue), contentOf(fresh.catalogue), `seed ${seed}`);
  return happened;
}
