/** What Node itself needs to take records in: each line parsed, written again, hashed and stored; nothing checked, linked or found. */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

const [file, database] = process.argv.slice(2) as [string, string];
const db = new DatabaseSync(database);
db.exec("create table record (position integer primary key, hash text, document text); begin");
const insert = db.prepare("insert into record values (?, ?, ?)");
const lines = readFileSync(file, "utf8").trimEnd().split("\n");
for (const [position, line] of lines.entries()) {
  const document = JSON.stringify(JSON.parse(line));
  insert.run(position, hash("sha256", document), document);
}
db.exec("commit");
db.close();
