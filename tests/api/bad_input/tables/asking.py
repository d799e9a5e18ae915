"""Provide invalid requests for releases and lists."""

from collections.abc import Iterable
from typing import Any

from tests.api.bad_input.row import Flaw, Row, rows_of

ASK = "/api/v1/queries/visits/releases"
EVENTS = "/api/v1/audit/events"
EXPOSURE = "/api/v1/audit/exposure"
RELEASES = "/api/v1/releases"
WISH: dict[str, Any] = {}

WISHES = [
    Flaw("a tier that does not exist", {"tier": "moon"}, "/tier", "no tier 'moon'"),
    Flaw("a tier without a level", {"tier": "street"}, "/tier", "no level for tier 'street'"),
    Flaw("a number for a tier", {"tier": 1}, "/tier", "must be a string"),
    Flaw("an empty tier", {"tier": ""}, "/tier", "Choose a tier"),
    Flaw("a huge tier", {"tier": "x" * 10**5}, "/tier", "1 to 64"),
    Flaw("a zero byte in a tier", {"tier": "public\x00"}, "/tier", "control characters"),
    Flaw("epsilon 0", {"epsilon": 0}, "/epsilon", "above 0"),
    Flaw("a negative epsilon", {"epsilon": -1}, "/epsilon", "above 0"),
    Flaw("epsilon -0.0", {"epsilon": -0.0}, "/epsilon", "above 0"),
    Flaw("a huge epsilon", {"epsilon": 1e308}, "/epsilon", "from 1e-09 to 1e.06"),
    Flaw("a subnormal epsilon", {"epsilon": 5e-324}, "/epsilon", "from 1e-09"),
    Flaw("a boolean for epsilon", {"epsilon": True}, "/epsilon", "must be a number"),
    Flaw("a text for epsilon", {"epsilon": "1"}, "/epsilon", "must be a number"),
    Flaw("rho of 65 bits", {"rho": 2**64}, "/rho", "from 1e-18 to 1e.06"),
    Flaw("a subnormal rho", {"rho": 5e-324}, "/rho", "from 1e-18"),
    Flaw("level 0", {"level": 0}, "/level", "above 0"),
    Flaw("a level of 1e-300", {"level": 1e-300}, "/level", "from 1e-30"),
    Flaw("a huge level", {"level": 1e308}, "/level", "to 1e.30"),
    Flaw("a level beyond the ladder", {"level": 1e30}, None, "noisiest level of this query"),
    Flaw("two measures", {"epsilon": 1, "rho": 1}, "", "at most one of .*given: epsilon, rho"),
    Flaw("a tier and a measure", {"tier": "public", "level": 1e4}, "", "given: level, tier"),
    Flaw("an unknown measure", {"mu": 1}, "/mu", "unknown"),
    Flaw("another's name", {"user": "ian"}, "/user", "unknown"),
    Flaw("a tier above one's own", {"tier": "internal"}, None, "above the clearance 'public'", 403,
         "CLEARANCE_TOO_LOW"),
    Flaw("a level above one's own", {"epsilon": 0.4}, None, "more accurate than 'public' allows",
         403, "CLEARANCE_TOO_LOW"),
]  # fmt: skip
BEYOND = [
    Flaw("an epsilon", {"epsilon": 0.6}, None, "more accurate than 'internal' allows", 403,
         "CLEARANCE_TOO_LOW"),
    Flaw("a level", {"level": 1}, None, "more accurate than 'internal' allows", 403,
         "CLEARANCE_TOO_LOW"),
]  # fmt: skip
FORMS = {
    "an image": "image/png",
    "XML": "application/xml",
    "every form but those": "text/html, text/plain;q=0.5",
    "JSON, which is not wanted": "application/json;q=0",
    "nothing at all": "*/*;q=0",
}


def arguments(
    path: str, by: str, given: Iterable[tuple[str, str, str]], status: int = 422
) -> list[Row]:
    """Return a row for each query string that is wrong in its first argument."""
    return [
        Row(
            name=f"{path} with {name}",
            verb="GET",
            path=f"{path}?{text}",
            says=says,
            status=status,
            pointer=f"/{text.partition('=')[0]}" if status == 422 else None,
            by=by,
        )
        for name, text, says in given
    ]


LIMIT = "whole number from 1"
CURSOR = "start again without it"
TIME = "a time with its offset"
ARGUMENTS = [
    *arguments(
        RELEASES,
        "ann",
        [
            ("limit 0", "limit=0", LIMIT),
            ("limit -1", "limit=-1", LIMIT),
            ("a limit in words", "limit=abc", LIMIT),
            ("no limit in it", "limit=", LIMIT),
            ("half a limit", "limit=1.5", LIMIT),
            ("an exponent", "limit=1e3", LIMIT),
            ("a limit in other digits", "limit=%D9%A3", LIMIT),
            ("an underscore", "limit=1_0", LIMIT),
            ("a sign", "limit=%2B5", LIMIT),
            ("a space", "limit=%205", LIMIT),
            ("a zero byte", "limit=1%00", LIMIT),
            ("two limits", "limit=1&limit=2", "once"),
            ("a limit in capitals", "Limit=1", "unknown here; known arguments: cursor, limit"),
            ("a list of limits", "limit[]=1", "unknown"),
            ("an empty cursor", "cursor=", CURSOR),
            ("a cursor of garbage", "cursor=%00%FFgarbage", CURSOR),
            ("a negative cursor", "cursor=YWZ0ZXI6LTE", CURSOR),
            ("a cursor of 20 digits", "cursor=YWZ0ZXI6OTk5OTk5OTk5OTk5OTk5OTk5OTk5", CURSOR),
            ("SQL for a cursor", "cursor='%20OR%201=1", CURSOR),
            ("a cursor with a letter changed", "cursor=YWZ0ZXJ6MTI", CURSOR),
            ("a cursor with a letter cut off", "cursor=YWZ0ZXI6MTI6MmYyYmI5OW", CURSOR),
            ("a cursor to another place", "cursor=YWZ0ZXI6MTM6MmYyYmI5OWQ", CURSOR),
            ("a cursor without its checksum", "cursor=YWZ0ZXI6MTI", CURSOR),
            ("a cursor in another spelling", "cursor=YWZ0ZXI6MTI6MmYyYmI5OWQ=", CURSOR),
            ("a cursor of another word", "cursor=YmVmb3JlOjEy", CURSOR),
            ("a cursor that counts in letters", "cursor=YWZ0ZXI6MTJh", CURSOR),
            ("a cursor in other digits", "cursor=YWZ0ZXI62aM", CURSOR),
            ("a cursor that is a number", "cursor=12", CURSOR),
            (
                "two cursors",
                "cursor=YWZ0ZXI6MTI6MmYyYmI5OWQ&cursor=YWZ0ZXI6MTI6MmYyYmI5OWQ",
                "once",
            ),
            ("something else", "surprise=1", "unknown"),
        ],
    ),
    *arguments(
        EVENTS,
        "olga",
        [
            ("since=notadate", "since=notadate", TIME),
            ("a day that does not exist", "since=2026-02-30T00:00:00Z", TIME),
            ("a time without an offset", "since=2026-11-20T12:00:00", TIME),
            ("a date alone", "since=2026-11-20", TIME),
            ("seconds since 1970", "since=1700000000", TIME),
            ("no time in it", "since=", TIME),
            ("a time before all times", "since=0001-01-01T00:00:00%2B23:59", TIME),
            ("a time after all times", "until=9999-12-31T23:59:59-23:59", TIME),
            ("an offset of 25 hours", "until=2026-11-20T12:00:00%2B25:00", TIME),
            ("an unknown kind", "kind=gossip", "'release', 'dataset'"),
            ("a kind in capitals", "kind=RELEASE", "'release', 'dataset'"),
            ("two kinds", "kind=release,user", "'release', 'dataset'"),
        ],
    ),
    *arguments(
        EXPOSURE,
        "olga",
        [
            ("nobody", "users=", "1 to 1000 names"),
            ("users=,,,", "users=,,,", "1 to 1000 names"),
            ("two lists", "users=ann&users=ian", "once"),
            ("too many", "users=" + ",".join(f"u{n}" for n in range(100_000)), "1 to 1000 names"),
        ],
    ),
    *arguments(
        EXPOSURE,
        "olga",
        [
            ("one who does not exist", "users=ann,moon", "no user 'moon'"),
            ("a zero byte", "users=%00", "no user"),
            ("a dataset that does not exist", "users=ann&dataset=moon", "no dataset 'moon'"),
        ],
        404,
    ),
    *arguments(RELEASES, "olga", [("an unknown user", "user=moon", "no user 'moon'")], 404),
    *arguments(RELEASES, "ann", [("a hidden query", "query=secret", "no query 'secret'")], 404),
    *arguments(RELEASES, "ann", [("another's name", "user=ian", "Only auditors")], 403),
    *arguments(EXPOSURE, "ann", [("another's name", "users=ann,ian", "role auditor")], 403),
    *arguments("/api/v1/queries", "root", [("no such dataset", "dataset=moon", "'moon'")], 404),
    *arguments(
        "/api/v1/me", "ann", [("an argument", "x=1", "unknown here; known arguments: none")]
    ),
    *arguments("/healthz", "ann", [("an argument", "x=1", "unknown here; known arguments: none")]),
]
NAMES = [
    Row("a query that does not exist", "POST", "/api/v1/queries/moon/releases", "no query 'moon'",
        404, body={}, by="ann"),
    Row("a query out of sight", "POST", "/api/v1/queries/secret/releases", "no query 'secret'",
        404, body={}, by="ann"),
    Row("no clearance", "POST", ASK, "no query 'visits'", 404, body={}, by="noa"),
    Row("an admin's wish", "POST", ASK, "takes the role analyst", 403, body={}),
    Row("a release that does not exist", "GET", f"{RELEASES}/moon", "no release", 404, by="ann"),
    Row("SQL for a release", "GET", f"{RELEASES}/'%20OR%201=1%20--", "no release", 404, by="ann"),
    Row("values in an unknown form", "GET", f"{RELEASES}/moon/values?format=xml", "must be ",
        pointer="/format", by="ann"),
    Row("a dataset that does not exist", "GET", "/api/v1/datasets/moon", "'moon'", 404),
    Row("its budget", "GET", "/api/v1/datasets/moon/budget", "'moon'", 404),
]  # fmt: skip

UNSERVED = [
    Row(f"values as {name}", "GET", f"{RELEASES}/moon/values", "name one in Accept", 406,
        by="ann", headers={"Accept": accept})
    for name, accept in FORMS.items()
]  # fmt: skip

ROWS = [
    *rows_of("release", ASK, WISH, WISHES, by="ann"),
    *rows_of("more accurate than the ceiling", ASK, WISH, BEYOND, by="ian"),
    *ARGUMENTS,
    *NAMES,
    *UNSERVED,
]
