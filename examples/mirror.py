"""
Keeps a copy of all records in a file: `python3 mirror.py [FILE]`, now and then, such as from cron.

It needs gp_records.py beside it (in a checkout, PYTHONPATH=clients/python), and GP_RECORDS_URL and GP_RECORDS_KEY in the
environment. It waits where the quota is used up, begins again where a dataset is published while it reads, and goes on
where it was when it was interrupted.
"""

import os
import pathlib
import sys

from gp_records import Client

file = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "mirror.ndjson")
client = Client(
    os.environ["GP_RECORDS_URL"],
    os.environ["GP_RECORDS_KEY"],
    # The quota of an hour, too, is worth waiting for.
    wait_max_seconds=3600,
    on_wait=lambda wait: print(f"{wait.error}: waiting {wait.seconds} s", file=sys.stderr),
)

saved = file.read_text(encoding="utf-8").split("\n") if file.exists() else []
mirror = client.mirror(saved)


def save():
    """Whoever reads the file meets the old or the new one, never a part, even where two of these run at once."""
    unfinished = file.with_name(f"{file.name}.{os.getpid()}.new")
    try:
        with unfinished.open("w", encoding="utf-8", newline="\n") as lines:
            for line in mirror.save():
                lines.write(line + "\n")
        unfinished.replace(file)
    except OSError:
        # As on a full disk.
        unfinished.unlink(missing_ok=True)
        raise


pages = 0


def on_page(_version, _records):
    """Saves what is read so far, in case this is ended."""
    global pages
    pages += 1
    if pages % 50 == 0:
        save()


try:
    update = mirror.update(on_page)
    counts = ", ".join(f"{mirror.count(kind)} {kind}" for kind in ("gp", "principal", "signal", "project"))
    print(f"{update.from_version or 'nothing'} → {update.version}, by {update.how}: {counts}")
finally:
    save()
