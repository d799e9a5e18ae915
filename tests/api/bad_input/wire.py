"""Provide requests that are invalid as HTTP or as JSON, and callers with false credentials."""

import json
from collections.abc import Mapping
from typing import Any

from tests.api.bad_input.row import Row
from tests.api.bad_input.tables import keys
from tests.api.bad_input.tables.people import TIER, TIERS, USERS
from tests.api.bad_input.tables.vectors import GOOD, QUERIES

ME = "/api/v1/me"
TIERS_AS_JSON = json.dumps(TIER)
NOWHERE = "Nothing is served at this address"
NO_TOKEN = "The token is malformed, unknown, expired or revoked; ask an admin"


def with_number(text: str) -> bytes:
    """Return a new tier whose rank is written as ``text``."""
    return TIERS_AS_JSON.replace("20", text).encode()


MALFORMED: Mapping[str, bytes] = {
    "an empty body": b"",
    "a space": b" ",
    "a form": b"name=x&rank=1",
    "XML": b"<tier><name>x</name></tier>",
    "YAML": b"name: x\nrank: 1\n",
    "single quotes": b"{'name': 'x'}",
    "a comma too many": b'{"name": "x",}',
    "a comment": b'{"name": "x" /* so */}',
    "half an object": b'{"name": "x"',
    "half a text": b'{"name": "x',
    "trailing garbage": TIERS_AS_JSON.encode() + b" x",
    "two documents": TIERS_AS_JSON.encode() * 2,
    "lines of documents": TIERS_AS_JSON.encode() + b"\n" + TIERS_AS_JSON.encode(),
    "a mark of byte order": b"\xef\xbb\xbf" + TIERS_AS_JSON.encode(),
    "UTF-16": TIERS_AS_JSON.encode("utf-16"),
    "UTF-32": TIERS_AS_JSON.encode("utf-32"),
    "Latin-1": '{"name": "caf\u00e9"}'.encode("latin-1"),
    "an overlong encoding": b'{"name": "\xc0\xaf"}',
    "a lone surrogate": b'{"name": "\\ud800"}',
    "a surrogate in UTF-8": b'{"name": "\xed\xa0\x80"}',
    "half an escape": b'{"name": "\\u12"}',
    "a raw zero byte": b'{"name": "a\x00b"}',
    "a raw line end": b'{"name": "a\nb"}',
    "NaN": with_number("NaN"),
    "Infinity": with_number("Infinity"),
    "-Infinity": with_number("-Infinity"),
    "1e400": with_number("1e400"),
    "-1e400": with_number("-1e400"),
    "5000 digits": with_number("9" * 5000),
    "100,000 digits": with_number("9" * 100_000),
    "hexadecimal": with_number("0x10"),
    "a leading zero": with_number("020"),
    "a plus sign": with_number("+20"),
    "a point at the end": with_number("20."),
    "undefined": with_number("undefined"),
    "True": with_number("True"),
    "a name twice": b'{"name": "x", "rank": 1, "name": "y"}',
    "a name twice, escaped": b'{"name": "x", "\\u006eame": "y"}',
    "a name twice, deeper": b'{"name": "x", "description": {"a": 1, "a": 2}}',
    "65 levels": b"[" * 65 + b"]" * 65,
    "100,000 levels": b"[" * 100_000 + b"]" * 100_000,
    "100,000 levels of objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "500,000 openings": b"[" * 500_000,
    "bytes of nothing": bytes(1000),
    "a compressed body": bytes.fromhex("1f8b0800000000000003ab5604002d3a9e3f02000000"),
}
NO_OBJECTS: Mapping[str, bytes] = {
    "null": b"null",
    "true": b"true",
    "a number": b"1",
    "a text": b'"name"',
    "a list": b"[]",
    "a list of tiers": f"[{TIERS_AS_JSON}]".encode(),
    "64 levels": b"[" * 64 + b"]" * 64,
}
BODIES = [
    *(
        Row(f"as JSON, {name}", "POST", TIERS, r"\w", 400, pointer="", data=data)
        for name, data in MALFORMED.items()
    ),
    *(
        Row(f"for an object, {name}", "POST", TIERS, "must be an object", pointer="", data=data)
        for name, data in NO_OBJECTS.items()
    ),
    Row("300 digits", "POST", TIERS, "an integer", pointer="/rank", data=with_number("9" * 300)),
    Row("20 with a point", "POST", TIERS, "integer", pointer="/rank", data=with_number("20.5")),
    Row("a huge exponent", "POST", TIERS, "an int", pointer="/rank", data=with_number("1e300")),
    Row("NaN as a text", "POST", TIERS, "an integer", pointer="/rank", data=with_number('"NaN"')),
    Row("NaN among values", "POST", QUERIES, "is not JSON", 400, pointer="",
        data=json.dumps({**GOOD, "values": [1, float("nan")]}).encode()),
    Row("infinity among values", "POST", QUERIES, "is not JSON", 400, pointer="",
        data=json.dumps({**GOOD, "values": [1, float("-inf")]}).encode()),
    Row("1e400 among values", "POST", QUERIES, "is not JSON", 400, pointer="",
        data=json.dumps(GOOD).replace("120", "1e400").encode()),
    Row("a body above the limit", "POST", TIERS, "larger than the limit .*1,048,576 bytes", 413,
        data=b" " * (2**20 + 1)),
    Row("a body above the limit of queries", "POST", QUERIES, "limit .*4,194,304 bytes", 413,
        data=b" " * (2**22 + 1)),
    Row("countless small lists", "POST", QUERIES, "more than the 20,000 values", 400, pointer="",
        data=b'{"values": [' + b"[]," * 1_000_000 + b"1]}"),
    Row("a vector above the dimension limit", "POST", QUERIES, "20001 values; .* allows 20000",
        body={**GOOD, "keys": None, "values": [1] * 20_001}),
]  # fmt: skip


def typed(name: str, **headers: str) -> Row:
    """Return a valid tier with headers that declare something else."""
    given = {header.replace("_", "-"): value for header, value in headers.items()}
    return Row(
        f"declared as {name}", "POST", TIERS, "JSON in UTF-8", 415,
        data=TIERS_AS_JSON.encode(), headers=given,
    )  # fmt: skip


TYPES = [
    typed("text", Content_Type="text/plain"),
    typed("HTML", Content_Type="text/html"),
    typed("XML", Content_Type="application/xml"),
    typed("a form", Content_Type="application/x-www-form-urlencoded"),
    typed("parts", Content_Type="multipart/form-data; boundary=x"),
    typed("other JSON", Content_Type="application/merge-patch+json"),
    typed("JSON in another charset", Content_Type="application/json; charset=utf-16"),
    typed("nothing", Content_Type=""),
    typed("garbage", Content_Type=";;;===\x7f"),
    typed("compressed", Content_Type="application/json", Content_Encoding="gzip"),
    typed("compressed twice", Content_Type="application/json", Content_Encoding="gzip, br"),
]

TOKEN = "pst_abcdefgh_" + "A" * 43 + "_00000000"
AUTHORIZATIONS: Mapping[str, str] = {
    "an empty one": "",
    "a space": " ",
    "the scheme alone": "Bearer",
    "the scheme and a space": "Bearer ",
    "another scheme": "Basic cm9vdDpyb290",
    "no scheme": TOKEN,
    "a look-alike": f"Bearer {TOKEN}",
    "two words": f"Bearer {TOKEN} {TOKEN}",
    "two tokens": f"Bearer {TOKEN},Bearer {TOKEN}",
    "quotes": f'Bearer "{TOKEN}"',
    "the empty token": "Bearer null",
    "a web token": "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJyb290In0.",
    "SQL": "Bearer ' OR '1'='1",
    "a zero byte": "Bearer pst_\x00",
    "letters beyond ASCII": "Bearer pst_caf\u00e9",
    "a hundred thousand letters": "Bearer " + "A" * 100_000,
    "another's name": "Bearer root",
}
CALLERS = [
    *(
        Row(f"a token that is {kind}", verb, path, NO_TOKEN, 401, by=kind, body=body)
        for kind in ("malformed", "expired", "revoked", "gone")
        for verb, path, body in (
            ("GET", ME, None),
            ("POST", TIERS, TIER),
            ("POST", "/api/v1/queries/visits/releases", {}),
        )
    ),
    *(
        Row(f"authorization with {name}", "GET", ME, NO_TOKEN, 401, by=None,
            headers={"Authorization": header})
        for name, header in AUTHORIZATIONS.items()
    ),
    Row("no token", "GET", ME, NO_TOKEN, 401, by=None),
    Row("a token in the address", "GET", f"{ME}?token={TOKEN}", NO_TOKEN, 401, by=None),
    Row("a token as a cookie", "GET", ME, NO_TOKEN, 401, by=None,
        headers={"Cookie": f"token={TOKEN}; session={TOKEN}"}),
    Row("another's name in a header", "GET", ME, NO_TOKEN, 401, by=None,
        headers={"X-Forwarded-User": "root", "X-Remote-User": "root", "Remote-User": "root"}),
    Row("nonsense before a token", "POST", TIERS, NO_TOKEN, 401, by=None, data=b"{" * 1000),
]  # fmt: skip

ADDRESSES = [
    Row(f"the address {path}", "GET", path, NOWHERE, 404)
    for path in (
        *("/api/v1/tiers/", "//api/v1/tiers", "/api/v1//tiers", "/API/v1/tiers", "/api/v2/tiers"),
        *(
            "/api/v1/tiers/public/people",
            "/api/v1/../v1/tiers",
            "/api/v1/tiers%00",
            "/api/v1/tiers;x=1",
        ),
        *("/..%2f..%2fetc/passwd", "/static/../../etc/passwd", "/etc/passwd", "/.git/HEAD"),
        *("/api/v1/users/..%2f..%2fetc%2fpasswd", "/api/v1/users/a%2Fb", "/api/v1/users/"),
        *("/static/penstock.css%00", "/static/..%5c..%5cetc", "/keys/keyring.json", "/\u0000"),
    )
]
STRANGERS = [
    Row(f"the user {name}", "GET", f"{USERS}/{name}", "There is no user", 404)
    for name in (
        *("%2e%2e", "ann%00", "%00", "%FF%FE", "%C0%AE", "%ED%A0%80", "%", "%zz", "%u0061nn"),
        *("ann%0d%0aX-Evil:%201", "ann%20", "%20ann", "ann%252e", "a%CC%8Ann", "%E2%80%AEnna"),
        *("x" * 500, "'%20OR%20'1'='1", "{{7*7}}", "$%7Bjndi:ldap:x%7D", "__proto__", "null"),
    )
]
METHODS = [
    Row(f"{verb} at tiers", verb, TIERS, "Allow header", 405)
    for verb in ("PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "NONSENSE")
] + [
    Row("POST at oneself", "POST", ME, "Allow header", 405, body={}),
    Row("PATCH at a dataset of a release", "PATCH", "/api/v1/releases/x", "Allow", 405, body={}),
]
IGNORED = [
    Row(f"the method by {header}", "GET", f"{USERS}/ann", "", 200, headers={header: "DELETE"})
    for header in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override")
] + [
    Row("another address by a header", "GET", ME, "", 200,
        headers={"X-Original-URL": "/api/v1/users", "X-Rewrite-URL": "/api/v1/users"}),
    Row("a strange host", "GET", ME, "", 200, headers={"Host": "evil.example:99999"}),
    Row("a strange range", "GET", ME, "", 200, headers={"Range": "bytes=0-18446744073709551615"}),
    Row("a strange wish for a form", "GET", ME, "", 200, headers={"Accept": "text/\x7f;q=9e99"}),
    Row("a limit of 10^30", "GET", f"{TIERS}?limit={10**30}", "", 200),
    Row("a body where none is read", "GET", ME, "", 200, data=b"{" * 1000),
]  # fmt: skip

OVERRIDE: Any = Row(
    "the method by a field", "POST", f"{USERS}/ann", "Allow header", 405, body={"_method": "DELETE"}
)
ROWS = [
    *(BODIES + TYPES + CALLERS + ADDRESSES + STRANGERS + METHODS + IGNORED),
    OVERRIDE,
    *keys.ROWS,
]
