"""Define invalid commands of an operator, and invalid files for them."""

import json
from dataclasses import dataclass
from typing import Any

from tests.api.bad_input.row import spoiled
from tests.api.bad_input.tables.datasets import GOOD as DATASET
from tests.api.bad_input.tables.vectors import GOOD as VECTOR

FAILURE, USAGE, REFUSED = 1, 2, 3
NOT_TEXT = "\udcff"
"""The character that Python uses for an argument's byte that is not UTF-8."""


@dataclass(frozen=True)
class Command:
    """Hold the words after ``penstock``, its exit code, and its message on standard error.

    ``content`` is that of the file ``spec``, which the words may name.
    """

    words: tuple[str, ...]
    code: int
    says: str
    content: bytes | None = None
    spec: str = "spec.json"

    @property
    def name(self) -> str:
        return " ".join(self.words)[:60].encode("utf-8", "backslashreplace").decode()


def of_words(code: int, says: str, *lines: str) -> list[Command]:
    """Return commands with the same result."""
    return [Command(tuple(line.split()), code, says) for line in lines]


NAMED = [
    *of_words(FAILURE, "no user 'moon'", "user show moon", "user disable moon", "token list moon"),
    *of_words(FAILURE, "no user 'moon'", "token create moon", "release visits --as moon"),
    *of_words(FAILURE, "no dataset 'moon'", "dataset show moon", "dataset budget moon"),
    *of_words(FAILURE, "no dataset 'moon'", "query list --dataset moon"),
    *of_words(FAILURE, "no query 'moon'", "query show moon", "release moon --as ann"),
    *of_words(FAILURE, "no tier 'moon'", "user set-clearance ann moon"),
    *of_words(FAILURE, "no tier 'moon'", "tier create x --above moon"),
    *of_words(FAILURE, "choose another", "tier create PUBLIC", "user create ANN --role admin"),
    *of_words(FAILURE, "taken", "user create operator --role admin"),
    *of_words(FAILURE, "begins with a letter", "tier create ../x", "user create .x --role admin"),
    *of_words(FAILURE, "1 to 64", f"tier create {'x' * 65}"),
    *of_words(FAILURE, "slashes", "user create a/b --role admin", "tier create a,b"),
    *of_words(FAILURE, "'30d'|\"30d\"", "token create ann --expires soon"),
    *of_words(FAILURE, '"30d"', "token create ann --expires=-1d", "token create ann --expires 30"),
    *of_words(FAILURE, "at most 3,650 days", "token create ann --expires 999999999d"),
    *of_words(FAILURE, "some of analyst", "token create ann --scope admin"),
    *of_words(FAILURE, "disabled", "token create gone"),
    *of_words(FAILURE, "no token 'abcdefgh'", "token revoke ann abcdefgh"),
    *of_words(FAILURE, "1 to 1000 names", "audit exposure --users ,,,"),
    *of_words(FAILURE, "at most 1000000", f"tier create x --rank {10**20}"),
    *of_words(FAILURE, "from 1e-09", "release visits --as ann --epsilon 1e308"),
    *of_words(FAILURE, "from 1e-30", "release visits --as ann --level 5e-324"),
    *of_words(FAILURE, "a home already", "init"),
    Command(("user", "show", "a\x1b[31m\x00"), FAILURE, "no user"),
    Command(("user", "show", ""), FAILURE, "no user ''"),
]
USED = [
    *of_words(USAGE, "not a number above 0", "release visits --as ann --epsilon nan"),
    *of_words(USAGE, "not a number above 0", "release visits --as ann --epsilon=-1"),
    *of_words(USAGE, "not a number above 0", "release visits --as ann --level inf"),
    *of_words(USAGE, "not a number above 0", "release visits --as ann --rho 0"),
    *of_words(USAGE, "at most one of", "release visits --as ann --epsilon 1 --rho 1"),
    *of_words(USAGE, "not a valid integer", "tier create x --rank 1.5"),
    *of_words(USAGE, "not a valid integer", "tier create x --rank high"),
    *of_words(USAGE, "not both", "tier create x --rank 5 --above public"),
    *of_words(USAGE, "Give either", "user set-clearance ann"),
    *of_words(USAGE, "Missing", "user create x", "release visits", "audit exposure", "user show"),
    *of_words(USAGE, "king", "user create x --role king"),
    *of_words(USAGE, "gossip.*not one of release, dataset", "audit events --kind gossip"),
    *of_words(USAGE, "not a time", "audit events --since notadate"),
    *of_words(USAGE, "not a time", "audit events --until 0001-01-01T00:00:00+23:59"),
    *of_words(USAGE, "not in the range", "audit events --limit 0", "serve --port 70000"),
    *of_words(USAGE, "not in the range", "serve --workers 0"),
    *of_words(USAGE, "No such command", "tiers", "query registr x"),
    *of_words(USAGE, "xml", "--format xml tier list"),
    *of_words(USAGE, "cannot be read", "query register absent.json", "dataset register ."),
    *[
        Command(tuple(NOT_TEXT if word == "?" else word for word in line.split()), code, says)
        for code, says, line in (
            (USAGE, "not text in UTF-8", "user show ?"),
            (USAGE, "not text in UTF-8", "release ? --as ann"),
            (USAGE, "not text in UTF-8", "release visits --as ?"),
            (USAGE, "not text in UTF-8", "query list --dataset ?"),
            (USAGE, "not text in UTF-8", "token revoke ann ?"),
            (USAGE, "not text in UTF-8", "audit events --user ?"),
            (USAGE, "not text in UTF-8", "audit exposure --users ?"),
            (FAILURE, "begins with a letter", "tier create ?"),
            (FAILURE, "begins with a letter", "user set-clearance ann ?"),
            (FAILURE, "control characters", "tier create x --description ?"),
        )
    ],
]
FORBIDDEN = [
    *of_words(REFUSED, "above the clearance 'public'", "release visits --as ann --tier internal"),
    *of_words(REFUSED, "more accurate than", "release visits --as ann --epsilon 0.4"),
    *of_words(REFUSED, "takes the role analyst", "release visits --as root"),
    *of_words(REFUSED, "disabled", "release visits --as gone"),
]


def spec(says: str, content: bytes, suffix: str = ".json") -> Command:
    """Return a query in a file that cannot be read."""
    name = f"spec{suffix}"
    return Command(("query", "register", name), FAILURE, says, content, name)


def vector(says: str, **fields: Any) -> Command:
    """Return a command with a vector in a file that can be read, but is not valid."""
    content = json.dumps(spoiled(VECTOR, fields)).encode()
    return Command(("query", "register", "spec.json"), FAILURE, says, content)


def dataset(says: str, **fields: Any) -> Command:
    """Return a command with a dataset in a file that can be read, but is not valid."""
    content = json.dumps(spoiled(DATASET, fields)).encode()
    return Command(("dataset", "register", "spec.json"), FAILURE, says, content)


GOOD = json.dumps(VECTOR).encode()
FILES = [
    spec("is empty", b""),
    spec("is empty", b" \n"),
    spec("is not UTF-8", bytes(range(256))),
    spec("is not UTF-8", GOOD.decode().encode("utf-16")),
    spec("is not JSON.*line 1", GOOD + b" x"),
    spec("is not JSON", GOOD[:-1]),
    spec("NaN is not a number", GOOD.replace(b"120", b"NaN")),
    spec("Infinity is not a number", GOOD.replace(b"120", b"-Infinity")),
    spec("finite", GOOD.replace(b'"step": 1', b'"step": 1e400')),
    spec("/values/0|not a finite number", GOOD.replace(b"120", b"1e400")),
    spec("too many digits", GOOD.replace(b"120", b"9" * 5000)),
    spec("nested too deep", b"[" * 100_000),
    spec("must contain one JSON object", b"[1]"),
    spec("must contain one JSON object", b"1"),
    spec("contains a name twice", GOOD[:-1] + b', "name": "other"}'),
    spec("/surprise", b"\xef\xbb\xbf" + GOOD[:-1] + b', "surprise": 1}'),
    spec("neither JSON nor TOML", b"a = = 1", ".toml"),
    spec("neither JSON nor TOML", b"a = 1\na = 2", ".toml"),
    spec("nested too deep", b"a = " + b"[" * 100_000, ".toml"),
    spec("nested too deep, more than 100", b"a" + b".a" * 1500 + b" = 1", ".toml"),
    spec("cannot be read as TOML", b"a = " + b"9" * 5000, ".toml"),
    spec("/name: This must be a string", b"name = 2020-01-01", ".toml"),
    spec("/share: This must be a finite", b"share = nan", ".toml"),
    spec("neither JSON nor TOML", b"nonsense", ""),
    vector("noisier", levels={"public": {"epsilon": 0.5}, "internal": {"epsilon": 0.1}}),
    vector("not a finite number|above the declared bound", values=[1, 10**300]),
    vector("1 to 10000000 values", keys=None, values=[]),
    vector("control characters", keys=["\ud800", "b"]),
    vector("begins with a letter", name="\ud800"),
    vector("'visits' already", name="Visits"),
    vector("no dataset 'moon'", dataset="moon"),
    dataset("shrink", budgets={"public": {"epsilon": 4}, "internal": {"epsilon": 1}}),
    dataset("listed twice", budgets={"public": {"epsilon": 1}, "Public": {"epsilon": 2}}),
    dataset("must be 0 or a probability", delta=1e-300),
    dataset("'sites' already", name="SITES"),
    Command(
        ("query", "register", "spec.json"),
        REFUSED,
        "does not allow it",
        json.dumps(spoiled(VECTOR, {"levels": {"public": {"epsilon": 50}}})).encode(),
    ),
]

COMMANDS = [*NAMED, *USED, *FORBIDDEN, *FILES]

SETTINGS: list[tuple[str, str, str]] = [
    ("PENSTOCK_PORT", "high", "not a whole number"),
    ("PENSTOCK_PORT", "9" * 5000, "port"),
    ("PENSTOCK_PORT", "70000", "from 0 to 65535"),
    ("PENSTOCK_WORKERS", "0", "from 1 to 256"),
    ("PENSTOCK_TIME_QUANTUM", "nan", "from 0 to 10"),
    ("PENSTOCK_TIME_QUANTUM", "-1", "from 0 to 10"),
    ("PENSTOCK_BUSY_TIMEOUT", "inf", "from 0.1 to 600"),
    ("PENSTOCK_BODY_LIMIT", "-1", "from 1024"),
    ("PENSTOCK_DIMENSION_LIMIT", "1e3", "not a whole number"),
    ("PENSTOCK_LOG_LEVEL", "LOUD", "DEBUG, INFO"),
    ("PENSTOCK_DATABASE_URL", "garbage", "cannot be read"),
    ("PENSTOCK_DATABASE_URL", "mysql://a:secret@b/c", "not in mysql|mysql"),
    ("PENSTOCK_DATABASE_URL", "sqlite://", "in a file"),
    ("PENSTOCK_DATABASE_URL", "sqlite:////nowhere/at/all.db", "cannot be opened"),
    ("PENSTOCK_CONFIG", "absent.toml", "cannot be read"),
]
