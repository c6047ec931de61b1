"""
Keeps a copy of all records in a file: `python3 mirror.py [FILE]`, now and then, such as from cron.

It needs gp_records.py beside it (in a checkout, PYTHONPATH=clients/python), GP_RECORDS_URL and GP_RECORDS_KEY. The first line
names the dataset, each other one is a record. The file is replaced once the next copy is whole.
"""

import hashlib
import json
import os
import pathlib
import sys
from contextlib import suppress

from gp_records import Client, ProblemError, VersionChangedError

KINDS = ("gp", "principal", "signal", "project")
LISTS = ("principals", "principals_total", "signals", "signals_total")  # Of a GP: they repeat other records.


class Copy(dict):
    """The JSON of all records of one dataset, by kind and id."""
    version = None

    def put(self, kind, record):
        kept = {name: value for name, value in record.items() if name not in LISTS}
        # As the service writes it. Python writes 0.00005 as 5e-05: a copy with such a number is read anew each time.
        line = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
        self[KINDS.index(kind), record["id"]] = line

    def in_order(self):
        return ((KINDS[key[0]], line) for key, line in sorted(self.items()))

    def hash(self):
        """As docs/changes.md defines it, in the order of KINDS."""
        digests = (hashlib.sha256(line.encode()).digest() for _, line in self.in_order())
        return hashlib.sha256(b"".join(digests)).hexdigest()


class Again(Exception):
    """What was read does not go together, such as when another dataset was published meanwhile."""


client = Client(
    os.environ["GP_RECORDS_URL"],
    os.environ["GP_RECORDS_KEY"],
    wait_max_seconds=3600,  # The quota of an hour, too, is worth waiting for.
    on_wait=lambda wait: print(f"{wait.error}: waiting {wait.seconds} s", file=sys.stderr),
)


def read_export(copy):
    for kind in KINDS:
        data = b"".join(client.export_file(copy.version, f"{kind}.ndjson"))
        # Once a file was made, its SHA-256 is listed.
        files = [file for one in client.exports() for file in one["files"]]
        offered = [one["sha256"] for one in files if one["path"].endswith(f"{copy.version}/{kind}.ndjson")]
        if offered != [hashlib.sha256(data).hexdigest()]:
            raise Again(f"Not the {kind}.ndjson offered.")
        for line in data.splitlines():
            copy.put(kind, json.loads(line))


def read_pages(copy):
    listings = client.all_gps(), client.principals(), client.signals(), client.projects()
    for kind, listing in zip(KINDS, listings):
        for page in listing.pages():
            copy.version = copy.version or page.meta["dataset_version"]
            if copy.version != page.meta["dataset_version"]:
                raise Again("The dataset changed.")
            for record in page.data:
                copy.put(kind, record)


def follow(copy):
    """Whether steps lead from the copy to what is served, and fit. Takes them, and spoils the copy where not."""
    steps = []
    for one in client.changes():
        if one["step"] is None:
            return False
        steps.insert(0, one)
        if one["from"] == copy.version:
            break
    proof = copy.hash()
    for one in steps:
        step = client.step(one["from"], one["version"])
        if step.head["format"] != 1 or step.head["from_hash"] != proof:
            return False
        for change in step.changes:
            key = (KINDS.index(change["kind"]), change["id"])
            if change["change"] in ("removed", "merged"):
                del copy[key]
            else:
                # Members keep their places.
                record = change.get("record") or json.loads(copy[key]) | change["after"]
                copy.put(change["kind"], record)
        copy.version, proof = one["version"], step.head["to_hash"]
    return len(steps) > 0 and copy.hash() == proof


def update(saved):
    """Brings the saved copy up to date, or reads a new one."""
    if saved.version == client.fetch_signals(limit=1).meta["dataset_version"]:
        return "unchanged", saved
    # Whatever is refused, pages are read instead, which say it if there is more to say.
    with suppress(ProblemError):
        if saved.version is not None and follow(saved):
            return "steps", saved
    saved.version = None
    copy = Copy()
    with suppress(ProblemError):
        current = (one["version"] for one in client.exports() if one["is_current"])
        copy.version = next(current, None)
    how, read = ("pages", read_pages) if copy.version is None else ("export", read_export)
    read(copy)
    return how, copy


file = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "mirror.ndjson")
saved = Copy()
if file.exists():
    head, *lines = file.read_bytes().splitlines()
    saved.version = json.loads(head)["version"]
    for one in map(json.loads, lines):
        saved.put(one["kind"], one["record"])
for tries in range(10):
    try:
        how, copy = update(saved)
        break
    except (Again, VersionChangedError, ProblemError) as error:
        if tries == 9 or getattr(error, "code", "unknown-path") != "unknown-path":
            raise
unfinished = file.with_name(f"{file.name}.{os.getpid()}.new")
try:
    with unfinished.open("w", encoding="utf-8", newline="\n") as text:
        text.write(f'{{"version":"{copy.version}"}}\n')
        text.writelines(f'{{"kind":"{kind}","record":{line}}}\n' for kind, line in copy.in_order())
        text.flush()
        os.fsync(text.fileno())
    unfinished.replace(file)
finally:
    unfinished.unlink(missing_ok=True)
print(f"{copy.version}, by {how}: {len(copy)} records")
