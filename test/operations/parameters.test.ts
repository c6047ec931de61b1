import assert from "node:assert/strict";
import { test } from "node:test";
import { fetchGp } from "#operations/fetch-gp.ts";
import { operations } from "#operations/index.ts";
import { canonicalQuery, readQuery } from "#operations/parameters.ts";
import { Problem, type ParameterFault } from "#problems.ts";

const operationNamed = (name: string) => operations.find((one) => one.name === name)!;

const read = (text: string, name = "fetch-gp", pageSizeMax = 100) =>
  readQuery(operationNamed(name), text, pageSizeMax, operations);

function faultsOf(text: string, name = "fetch-gp", pageSizeMax = 100): ParameterFault[] {
  try {
    read(text, name, pageSizeMax);
  } catch (error) {
    assert.ok(error instanceof Problem);
    assert.equal(error.code, "invalid-parameters");
    return error.members["errors"] as ParameterFault[];
  }
  return [];
}

const codesOf = (text: string, name?: string) =>
  faultsOf(text, name).map(({ parameter, code }) => `${parameter} ${code}`);

const others = ["fetch-principals", "fetch-signals", "fetch-projects"];

test("gp_name is required on fetch-gp and optional elsewhere", () => {
  assert.deepEqual(codesOf(""), ["gp_name missing"]);
  for (const name of others) assert.deepEqual(codesOf("", name), []);
});

test("gp_name has at least 2 characters on fetch-gp and 1 elsewhere, at most 200, counted in code points after trimming", () => {
  assert.deepEqual(codesOf("gp_name=k"), ["gp_name too_short"]);
  assert.deepEqual(codesOf("gp_name=+k+"), ["gp_name too_short"]);
  assert.deepEqual(codesOf("gp_name=kk"), []);
  assert.deepEqual(codesOf(`gp_name=${encodeURIComponent("🏢")}`), ["gp_name too_short"]);
  assert.deepEqual(codesOf(`gp_name=${encodeURIComponent("🏢🏢")}`), []);
  for (const name of others) assert.deepEqual(codesOf("gp_name=k", name), []);
  assert.deepEqual(codesOf(`gp_name=${"é".repeat(200).replaceAll("é", "%C3%A9")}`), []);
  assert.deepEqual(codesOf(`gp_name=${"a".repeat(201)}`), ["gp_name too_long"]);
});

test("gp_name is trimmed and brought to NFC", () => {
  assert.equal(
    read(`gp_name=${encodeURIComponent("  Socie\u0301te\u0301 ")}`).filter.name,
    "Société",
  );
  assert.deepEqual(codesOf(`gp_name=${encodeURIComponent("e\u0301")}`), ["gp_name too_short"]);
});

test("tag, theme and market have 1 to 100 characters and may be given up to 10 times", () => {
  for (const name of ["tag", "theme", "market"]) {
    const times = (count: number) =>
      Array.from({ length: count }, (_, i) => `${name}=v${i}`).join("&");
    assert.deepEqual(codesOf(`gp_name=kk&${name}=${"a".repeat(100)}`), []);
    assert.deepEqual(codesOf(`gp_name=kk&${name}=${"a".repeat(101)}`), [`${name} too_long`]);
    assert.deepEqual(codesOf(`gp_name=kk&${times(10)}`), []);
    assert.deepEqual(codesOf(`gp_name=kk&${times(11)}`), [`${name} too_many_values`]);
  }
});

test("tag, theme and market repeated mean any of the values, and a comma is data", () => {
  assert.deepEqual(read("gp_name=kk&tag=b,c&tag=a").filter.tag, ["a", "b,c"]);
});

test("limit is 1 to the operator's largest page, 20 by default", () => {
  assert.equal(read("gp_name=kk").limit, 20);
  assert.equal(read("gp_name=kk&limit=1").limit, 1);
  assert.equal(read("gp_name=kk&limit=100").limit, 100);
  assert.equal(read("gp_name=kk&limit=1000", "fetch-gp", 1000).limit, 1000);
  assert.equal(read("gp_name=kk&limit=007").limit, 7);
});

test("offset is 0 to 2147483647, 0 by default", () => {
  assert.equal(read("gp_name=kk").offset, 0);
  assert.equal(read("gp_name=kk&offset=2147483647").offset, 2147483647);
});

test("a limit or offset out of range says what is allowed, also a very long one", () => {
  for (const [text, minimum, maximum] of [
    ["limit=0", 1, 100],
    ["limit=101", 1, 100],
    ["offset=2147483648", 0, 2147483647],
    [`offset=${"9".repeat(400)}`, 0, 2147483647],
  ] as const) {
    const [fault] = faultsOf(`gp_name=kk&${text}`);
    assert.deepEqual(
      [fault?.code, fault?.minimum, fault?.maximum],
      ["out_of_range", minimum, maximum],
      text,
    );
  }
});

test("only plain decimal digits are a number", () => {
  for (const value of [
    "-1",
    "%2B5",
    "5.0",
    "1e2",
    "0x10",
    "+5",
    "5+",
    "abc",
    "%D9%A3",
    "%EF%BC%95",
    "null",
    "true",
  ])
    for (const name of ["limit", "offset"]) {
      const [fault, ...rest] = faultsOf(`gp_name=kk&${name}=${value}`);
      assert.equal(rest.length, 0);
      assert.equal(fault?.code, "not_an_integer", `${name}=${value}`);
      assert.equal(fault?.minimum, name === "limit" ? 1 : 0);
      assert.equal(fault?.maximum, name === "limit" ? 100 : 2147483647);
    }
});

test("an unknown parameter is refused with the allowed names, and the nearest if it is at a distance of two at most", () => {
  const allowed = ["gp_name", "tag", "theme", "market", "limit", "offset"];
  for (const [name, suggestion] of [
    ["gp_nmae", "gp_name"],
    ["gpname", "gp_name"],
    ["tags", "tag"],
    ["ofset", "offset"],
    ["name", undefined],
    ["LIMIT", undefined],
  ] as const) {
    const [fault] = faultsOf(`gp_name=kk&${name}=x`);
    assert.equal(fault?.code, "unknown_parameter");
    assert.deepEqual(fault?.allowed, allowed);
    assert.equal(fault?.suggestion, suggestion, name);
  }
});

test("names that mean something to JavaScript are unknown parameters like any other", () => {
  for (const name of [
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "gp_name[]",
    "gp_name[$ne]",
    "__proto__[limit]",
  ])
    assert.deepEqual(codesOf(`gp_name=kk&${encodeURIComponent(name)}=x`), [
      `${name} unknown_parameter`,
    ]);
});

test("a parameter of another operation is refused and says where it is known", () => {
  for (const name of ["fetch-signals", "fetch-projects"])
    for (const parameter of ["tag", "theme", "market"]) {
      const [fault] = faultsOf(`${parameter}=x`, name);
      assert.equal(fault?.code, "unknown_parameter");
      assert.deepEqual(fault?.allowed_on, ["/fetch-gp", "/fetch-principals"]);
    }
});

test("gp_name, limit and offset are given once", () => {
  for (const name of ["gp_name", "limit", "offset"])
    assert.ok(codesOf(`gp_name=kk&${name}=10&${name}=10`).includes(`${name} repeated_parameter`));
});

test("an empty value is refused, with and without an equals sign", () => {
  for (const name of ["gp_name", "tag", "theme", "market", "limit", "offset"])
    for (const text of [`${name}=`, name])
      assert.deepEqual(codesOf(name === "gp_name" ? text : `gp_name=kk&${text}`), [
        `${name} empty_value`,
      ]);
  assert.deepEqual(codesOf("gp_name=+++"), ["gp_name empty_value"]);
});

test("a broken escape, bytes that are not UTF-8 and control characters are refused", () => {
  for (const value of [
    "%",
    "%z1",
    "%f",
    "%ff",
    "%C0%AE",
    "%ED%A0%80",
    "%00",
    "%1f",
    "%7f",
    "%C2%85",
    "a%0Ab",
  ])
    assert.deepEqual(codesOf(`gp_name=kk&tag=${value}`), ["tag invalid_encoding"], value);
});

test("all faults are told at once, in the order of the query, missing ones last", () => {
  assert.deepEqual(codesOf("limit=0&gp_nme=x&offset=-1&tag="), [
    "limit out_of_range",
    "gp_nme unknown_parameter",
    "offset not_an_integer",
    "tag empty_value",
    "gp_name missing",
  ]);
});

test("the detail of several faults reads as one sentence", () => {
  assert.throws(() => read("gp_nme=x&limit=101"), {
    message:
      "3 problems: 'gp_nme' is not a parameter of /fetch-gp (did you mean 'gp_name'?); 'limit' must be 1 to 100; 'gp_name' is required.",
  });
});

test("whichever way a query is written, its canonical text is the same, and reads back as the same query", () => {
  const one = read("limit=20&tag=b&gp_name=+kk&tag=a&&tag=b");
  const other = read("gp_name=kk&tag=a&tag=b&offset=0");
  const [text, otherText] = [one, other].map((query) => canonicalQuery(fetchGp, query));
  assert.equal(text, otherText);
  assert.deepEqual(read(text!), other);
});

test("of more than 20 faults the first 20 are listed, with the number of all of them", () => {
  const unknownNames = (count: number) =>
    Array.from({ length: count }, (_, i) => `p${i}=`).join("&");
  const problemOf = (text: string) => {
    try {
      read(text);
    } catch (error) {
      return error as Problem;
    }
    throw new Error(`nothing is wrong with ${text}`);
  };
  const { message: all, members: allMembers } = problemOf(`gp_name=kk&${unknownNames(20)}`);
  assert.match(all, /^20 problems: 'p0' .*; 'p4' [^;]*; 15 more in errors\.$/);
  assert.deepEqual(Object.keys(allMembers), ["errors"]);
  assert.equal((allMembers["errors"] as unknown[]).length, 20);
  for (const [query, total] of [
    [`gp_name=kk&${unknownNames(21)}`, 21],
    [unknownNames(20), 21],
    [unknownNames(1200), 1201],
    [`gp_name=kk&${"limit=1&".repeat(1000)}`, 999],
  ] as const) {
    const { message, members } = problemOf(query);
    assert.ok(
      message.startsWith(`${total} problems: `) &&
        message.endsWith(`; ${total - 5} more, 15 of them in errors.`),
      message,
    );
    assert.equal((members["errors"] as unknown[]).length, 20);
    assert.equal(members["errors_total"], total);
    assert.ok(JSON.stringify(members).length < 8192);
  }
});

test("pairs without a name are an unknown parameter, and empty pairs are nothing", () => {
  assert.deepEqual(codesOf("&&&=&="), [" unknown_parameter", "gp_name missing"]);
});
