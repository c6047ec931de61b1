"""Does with the Python client what a test orders, one JSON line each, and waits for its word at every page and wait."""

import json
import pathlib
import sys
import threading
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "clients" / "python"))
import gp_records  # noqa: E402

stop = threading.Event()


def say(**message):
    """Tells the test something; it answers when it has done its part."""
    print(json.dumps(message), flush=True)
    if sys.stdin.readline().strip() == "stop":
        stop.set()


def told(wait):
    return {"seconds": wait.seconds, "attempt": wait.attempt, "error": error_of(wait.error)}


def error_of(error):
    kind = type(error).__name__
    given = {"name": kind, "message": str(error), "requestId": getattr(error, "request_id", None)}
    if isinstance(error, gp_records.ProblemError):
        given |= {"problem": error.problem, "code": error.code}
    if isinstance(error, (gp_records.ProblemError, gp_records.UnexpectedAnswerError)):
        given |= {"status": error.status}
    if isinstance(error, gp_records.VersionChangedError):
        given |= {"from": error.from_version, "to": error.to_version}
    return given


def page_of(page):
    return {
        "data": page.data,
        "pagination": page.pagination,
        "meta": page.meta,
        "requestId": page.request_id,
        "quota": page.quota,
    }


cache = {}


def do(order):
    options = order["options"]
    stop.clear()
    client = gp_records.Client(
        options["baseUrl"],
        options["key"],
        **{
            ours: options[theirs]
            for ours, theirs in [
                ("wait_max_seconds", "waitMaxSeconds"),
                ("retries_max", "retriesMax"),
                ("timeout_seconds", "timeoutSeconds"),
            ]
            if theirs in options
        },
        cache=cache if options.get("usesCache") else None,
        on_wait=lambda wait: say(wait=told(wait)),
        stop=stop,
        sleep=lambda seconds: say(sleep=seconds),
    )
    query = order["query"]
    one_page, all_pages = ("list_", "all_") if order.get("isList") else ("fetch_", "")
    more = {"on_version_change": order["onVersionChange"]} if "onVersionChange" in order else {}
    match order["what"]:
        case "show":
            return f"{client!r} {client}"
        case "page":
            return page_of(getattr(client, one_page + order["operation"])(**query))
        case "pages":
            for page in getattr(client, all_pages + order["operation"])(**query, **more).pages():
                say(page=page_of(page))
            return None
        case "records":
            return [one for one in getattr(client, all_pages + order["operation"])(**query, **more)]
        case "step":
            step = client.step(*order["of"])
            return {"head": step.head, "changes": step.changes}
        case "explain":
            return client.explain(order["of"][0])
        case "exports":
            return client.exports()
        case "file":
            return b"".join(client.export_file(*order["of"])).decode()
        case "list":
            return getattr(client, all_pages + order["operation"])(**query, **more).to_list()


for line in sys.stdin:
    try:
        result = {"value": do(json.loads(line))}
    except Exception as error:
        result = {"error": error_of(error), "trace": traceback.format_exc()}
    print(json.dumps(result), flush=True)
