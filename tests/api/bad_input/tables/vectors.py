"""Provide invalid pushed vectors."""

from typing import Any

from tests.api.bad_input.row import Absent, Flaw, rows_of
from tests.api.world import QUERY

QUERIES = "/api/v1/queries"
GOOD: dict[str, Any] = {**QUERY, "name": "fresh", "step": 1, "bound": 1000, "max_levels": 8}
SHARED: dict[str, Any] = {
    **{name: value for name, value in GOOD.items() if name != "levels"},
    "share": 0.01,
}

VALUES = [
    Flaw("an empty vector", {"keys": None, "values": []}, "/values", "1 to 10000000 .* has 0"),
    Flaw("no vector", {"values": None}, "/values", "Enter at least one number"),
    Flaw("a text for a vector", {"values": "1, 2"}, "/values", "must be a list"),
    Flaw("an object for a vector", {"values": {"a": 1}}, "/values", "must be a list"),
    Flaw("more values than keys", {"values": [1, 2, 3]}, "/keys", "2 keys and 3 values"),
    Flaw("more keys than values", {"values": [1]}, "/keys", "2 keys and 1 values"),
    Flaw("a fraction between steps", {"values": [1, 0.5]}, "/values/1", "not a multiple of"),
    Flaw("a subnormal value", {"values": [0.0, 5e-324]}, "/values/1", "not a multiple of"),
    Flaw("a value above the bound", {"values": [1, 1001]}, "/values/1", "above the declared bound"),
    Flaw("a value far above", {"values": [1e308, 1]}, "/values/0", "above the declared bound"),
    Flaw("a value of 64 bits", {"values": [1, 2**64 - 1]}, "/values/1", "above the declared"),
    Flaw("a value far below", {"values": [1, -(2**63)]}, "/values/1", "above the declared bound"),
    Flaw("a boolean among values", {"values": [True, 1]}, "/values/0", "is not a number"),
    Flaw("a text among values", {"values": ["1", 1]}, "/values/0", "is not a number"),
    Flaw("null among values", {"values": [1, None]}, "/values/1", "is not a number"),
    Flaw("lists among values", {"values": [[1], [2]]}, "/values/0", "is not a number"),
    Flaw("an object among values", {"values": [1, {}]}, "/values/1", "is not a number"),
]
KEYS = [
    Flaw("a key twice", {"keys": ["a", "a"]}, "/keys", "occurs once"),
    Flaw("a number for a key", {"keys": ["a", 1]}, "/keys/1", "must be a string"),
    Flaw("null for a key", {"keys": ["a", None]}, "/keys/1", "Enter a name for each"),
    Flaw("a zero byte in a key", {"keys": ["a", "b\x00"]}, "/keys/1", "control characters"),
    Flaw("a line end in a key", {"keys": ["a", "b\r\nc"]}, "/keys/1", "control characters"),
    Flaw("an endless key", {"keys": ["a", "b" * 1025]}, "/keys/1", "at most 1024 characters"),
    Flaw("no keys", {"keys": []}, "/keys", "Enter a name for each number"),
    Flaw("a text for keys", {"keys": "ab"}, "/keys", "must be a list"),
    Flaw("keys of two parts", {"keys": [["a", "b"], ["a", "c"]]}, "/keys/0", "must be a string"),
]
LATTICE = [
    Flaw("step 0", {"step": 0}, "/step", "power of two"),
    Flaw("a negative step", {"step": -1}, "/step", "power of two"),
    Flaw("a step of 0.3", {"step": 0.3}, "/step", "power of two"),
    Flaw("a subnormal step", {"step": 5e-324}, "/step", "power of two"),
    Flaw("a huge step", {"step": 1e308}, "/step", "at most 2.63"),
    Flaw("a text for a step", {"step": "1"}, "/step", "must be a number"),
    Flaw("a boolean for a step", {"step": True}, "/step", "must be a number"),
    Flaw("a step above the bound", {"step": 2**40}, "/bound", "bound is 1000"),
    Flaw("bound 0", {"bound": 0}, "/bound", "bound is 0"),
    Flaw("a negative bound", {"bound": -1}, "/bound", "bound is -1"),
    Flaw("a huge bound", {"bound": 1e300}, "/bound", "at most 2.63"),
    Flaw("null for a bound", {"bound": None}, "/bound", "must be a number"),
]
SENSITIVITY = [
    Flaw(
        "no sensitivity",
        {"sensitivity": Absent},
        "/sensitivity",
        "Enter how far one person changes the numbers",
    ),
    Flaw("null for a sensitivity", {"sensitivity": None}, "/sensitivity", "must be an object"),
    Flaw(
        "l1 missing",
        {"sensitivity": {"l2": 1}},
        "/sensitivity/l1",
        "Enter by how much one person changes all numbers",
    ),
    Flaw("l1 of 0", {"sensitivity": {"l1": 0}}, "/sensitivity/l1", "l1 is 0, below the step"),
    Flaw("a negative l1", {"sensitivity": {"l1": -1}}, "/sensitivity/l1", "l1 is -1, below"),
    Flaw("a huge l1", {"sensitivity": {"l1": 1e308}}, "/sensitivity/l1", "at most 2.63"),
    Flaw("a text for l1", {"sensitivity": {"l1": "1"}}, "/sensitivity/l1", "must be a number"),
    Flaw("l2 above l1", {"sensitivity": {"l1": 1, "l2": 2}}, "/sensitivity/l2", "above l1"),
    Flaw("linf above l2", {"sensitivity": {"l1": 1, "linf": 5}}, "/sensitivity/linf", "above l2"),
    Flaw("l2 below the step", {"sensitivity": {"l1": 1, "l2": 0.5}}, "/sensitivity/l2", "step, 1"),
    Flaw("an unknown norm", {"sensitivity": {"l1": 1, "l3": 1}}, "/sensitivity/l3", "unknown"),
]


def at(**level: Any) -> dict[str, Any]:
    """Return the level of the tier public alone."""
    return {"levels": {"public": level}}


LEVELS = [
    Flaw(
        "levels that get noisier with rank",
        {"levels": {"public": {"epsilon": 0.5}, "internal": {"epsilon": 0.1}}},
        "/levels/internal",
        "'internal' is noisier than that of the less trusted 'public'",
    ),
    Flaw(
        "levels that get noisier, named in other case",
        {"levels": {"PUBLIC": {"rho": 0.1}, "Internal": {"rho": 0.01}}},
        "/levels/Internal",
        "noisier",
    ),
    Flaw("no level", {"levels": {}}, "/levels", "Enter a level for at least"),
    Flaw("neither levels nor share", {"levels": Absent}, "/levels", "either the noise level"),
    Flaw("both levels and share", {"share": 0.1}, "", "either share or levels, not both"),
    Flaw("a list of levels", {"levels": [{"epsilon": 1}]}, "/levels", "must be an object"),
    Flaw("a text for a level", {"levels": {"public": "1"}}, "/levels/public", "must be an object"),
    Flaw("true for a level", {"levels": {"public": True}}, "/levels/public", "must be an object"),
    Flaw("a level of 0", {"levels": {"public": 0}}, "/levels/public/epsilon", "above 0"),
    Flaw("a level without a name", at(), "/levels/public", "exactly one of .*given: none"),
    Flaw("a level named twice", at(epsilon=0.1, rho=1), "/levels/public", "given: epsilon, rho"),
    Flaw("an unknown measure", at(alpha=2), "/levels/public/alpha", "unknown"),
    Flaw(
        "a tier that does not exist",
        {"levels": {"moon": {"epsilon": 0.1}}},
        "/levels/moon",
        "no tier 'moon'; create it",
    ),
    Flaw(
        "a tier without a budget",
        {"levels": {"street": {"epsilon": 0.1}}},
        "/levels/street",
        "no budget",
    ),
    Flaw(
        "a tier twice, in other case",
        {"levels": {"public": {"epsilon": 0.1}, "PUBLIC": {"epsilon": 0.2}}},
        "/levels",
        "listed twice",
    ),
    Flaw(
        "a tier twice, in other Unicode",
        {"levels": {"caf\u00e9": {"epsilon": 0.1}, "cafe\u0301": {"epsilon": 0.2}}},
        "/levels",
        "listed twice",
    ),
    Flaw(
        "a tier's name that needs escapes",
        {"levels": {"a/b~c": {"epsilon": 0.1}}},
        "/levels/a~1b~0c",
        "slashes",
    ),
    Flaw("epsilon 0", at(epsilon=0), "/levels/public/epsilon", "above 0"),
    Flaw("a negative epsilon", at(epsilon=-0.1), "/levels/public/epsilon", "above 0"),
    Flaw("epsilon -0.0", at(epsilon=-0.0), "/levels/public/epsilon", "above 0"),
    Flaw("a huge epsilon", at(epsilon=1e308), "/levels/public/epsilon", "from 1e-09 to 1e.06"),
    Flaw("a subnormal epsilon", at(epsilon=5e-324), "/levels/public/epsilon", "from 1e-09 to"),
    Flaw("an epsilon of 70 bits", at(epsilon=2**70), "/levels/public/epsilon", "from 1e-09 to"),
    Flaw("a text for epsilon", at(epsilon="1"), "/levels/public/epsilon", "must be a number"),
    Flaw("a boolean for epsilon", at(epsilon=True), "/levels/public/epsilon", "must be a number"),
    Flaw("a list for epsilon", at(epsilon=[1]), "/levels/public/epsilon", "must be a number"),
    Flaw("rho 0", at(rho=0), "/levels/public/rho", "above 0"),
    Flaw("a subnormal rho", at(rho=5e-324), "/levels/public/rho", "from 1e-18"),
    Flaw("a negative level", at(level=-1), "/levels/public/level", "above 0"),
    Flaw("a level of 1e-31", at(level=1e-31), "/levels/public/level", "from 1e-30"),
    Flaw("a level beyond the lattice", at(level=1e30), "", "coarser step or a smaller bound"),
    Flaw("confidence 1", at(half_width=1, confidence=1), "/levels/public/confidence", "below 1"),
    Flaw("confidence 0", at(half_width=1, confidence=0), "/levels/public/confidence", "above 0"),
    Flaw("confidence alone", at(rho=1, confidence=0.9), "/levels/public", "only with half_width"),
    Flaw(
        "a measure that the mechanism lacks",
        {"mechanism": "laplace", **at(mu=1)},
        "/levels/public/mu",
        "laplace mechanism has no mu",
    ),
    Flaw(
        "more levels than max_levels",
        {"max_levels": 1},
        "/max_levels",
        "2 levels, more than max_levels, 1",
    ),
    Flaw("max_levels 0", {"max_levels": 0}, "/max_levels", "at least 1"),
    Flaw("a thousand million levels", {"max_levels": 10**9}, "/max_levels", "at most 4096"),
    Flaw("half a level", {"max_levels": 1.5}, "/max_levels", "must be an integer"),
    Flaw("a boolean of levels", {"max_levels": True}, "/max_levels", "must be an integer"),
    Flaw(
        "more than the budget",
        at(epsilon=50),
        None,
        "does not allow it.*needed.*left",
        status=409,
        code="BUDGET_EXHAUSTED",
    ),
]
SHARES = [
    Flaw("share 0", {"share": 0}, "/share", "above 0"),
    Flaw("a negative share", {"share": -0.1}, "/share", "above 0"),
    Flaw("a share of 1.0000001", {"share": 1.0000001}, "/share", "at most 1"),
    Flaw("a huge share", {"share": 1e308}, "/share", "at most 1"),
    Flaw("a subnormal share", {"share": 5e-324}, None, "."),
    Flaw("a share of 1e-12", {"share": 1e-12}, None, "."),
    Flaw("a boolean for a share", {"share": True}, "/share", "must be a number"),
    Flaw("a text for a share", {"share": "0.1"}, "/share", "must be a number"),
    Flaw("null for a share", {"share": None}, "/share", "Enter either the noise level"),
    Flaw(
        "a share of all where something is spent",
        {"share": 1},
        None,
        "needed.*is left",
        status=409,
        code="BUDGET_EXHAUSTED",
    ),
]
OTHER = [
    Flaw("a field that is not known", {"surprise": 1}, "/surprise", "unknown"),
    Flaw("who vouches for it", {"asserted_by": "ann"}, "/asserted_by", "unknown"),
    Flaw("a status", {"status": "active"}, "/status", "unknown"),
    Flaw("a mechanism that does not exist", {"mechanism": "staircase"}, "/mechanism", "'gaussian'"),
    Flaw("a mechanism in capitals", {"mechanism": "Gaussian"}, "/mechanism", "'gaussian', "),
    Flaw("no mechanism", {"mechanism": Absent}, "/mechanism", "Choose the noise"),
    Flaw("a dataset that does not exist", {"dataset": "moon"}, None, "no dataset 'moon'", 404),
    Flaw("a number for a dataset", {"dataset": 1}, "/dataset", "must be a string"),
    Flaw("a dataset that is read", {"dataset": "stays"}, "/dataset", "reads the data of stays"),
    Flaw("a name that is taken", {"name": "visits"}, None, "'visits' already", 409, "NAME_TAKEN"),
    Flaw("a name in capitals", {"name": "VISITS"}, None, "'visits' already", 409, "NAME_TAKEN"),
    Flaw("a long s", {"name": "vi\u017fits"}, None, "'visits' already", 409, "NAME_TAKEN"),
    Flaw("the name of a hidden query", {"name": "Secret"}, None, "'secret'", 409, "NAME_TAKEN"),
    Flaw("no name", {"name": Absent}, "/name", "Enter a name"),
    Flaw("null for a name", {"name": None}, "/name", "Enter a name: 1 to 64"),
    Flaw("an empty name", {"name": ""}, "/name", "1 to 64 characters"),
    Flaw("a name of 65", {"name": "x" * 65}, "/name", "1 to 64 characters"),
    Flaw("a name of a hundred thousand", {"name": "x" * 100_000}, "/name", "1 to 64 characters"),
    Flaw("a name that climbs", {"name": "../../etc/passwd"}, "/name", "begins with a letter"),
    Flaw("a slash in a name", {"name": "a/b"}, "/name", "slashes"),
    Flaw("a comma in a name", {"name": "a,b"}, "/name", "commas"),
    Flaw("a zero byte in a name", {"name": "a\x00b"}, "/name", "control characters"),
    Flaw("line ends in a name", {"name": "a\r\nX-Evil: 1"}, "/name", "control characters"),
    Flaw("a name that reorders", {"name": "a\u202eb"}, "/name", "control characters"),
    Flaw("a name of no width", {"name": "a\u200bb"}, "/name", "control characters"),
    Flaw("a space first", {"name": " x"}, "/name", "begins with a letter"),
    Flaw("a space last", {"name": "x "}, "/name", "does not end with a space"),
    Flaw("a name of one sign", {"name": "\U0001f3e5"}, "/name", "begins with a letter"),
]
POWERS = [
    Flaw("a power below 1", {"p": 0.5}, "/p", "from 1 to 16, not 0.5"),
    Flaw("a power just below 1", {"p": 1 - 2**-53}, "/p", "from 1 to 16, not"),
    Flaw("a negative power", {"p": -3}, "/p", "from 1 to 16, not -3"),
    Flaw("a power far above 16", {"p": 1e18}, "/p", "from 1 to 16, not"),
    Flaw("a power of 30 digits", {"p": 10**30}, "/p", "at most 2\\^63"),
    Flaw("no power", {"p": Absent}, None, "field p, .* is missing"),
    Flaw("null for a power", {"p": None}, None, "field p, .* is missing"),
    Flaw("a text for a power", {"p": "3"}, "/p", "must be a number"),
    Flaw("a boolean for a power", {"p": True}, "/p", "must be a number"),
    Flaw("a power of gaussian noise", {"mechanism": "gaussian"}, "/p", "gaussian mechanism has no"),
    Flaw("a power of laplace noise", {"mechanism": "laplace"}, "/p", "laplace mechanism has no"),
    Flaw("a granularity", {"granularity": 1}, None, "leave granularity out"),
    Flaw("a rho", {"levels": {"public": {"rho": 0.1}}}, "/levels/public/rho", "has no rho"),
    Flaw("a mu", {"levels": {"public": {"mu": 0.1}}}, "/levels/public/mu", "has no mu"),
    Flaw("a level below the ladder's", {"levels": {"public": {"level": 1e-29}}}, None, "."),
]

ROWS = [
    *rows_of("general", QUERIES, {**GOOD, "mechanism": "generalized_gaussian", "p": 3}, POWERS),
    *rows_of("vector", QUERIES, GOOD, [*VALUES, *KEYS, *LATTICE, *SENSITIVITY, *LEVELS, *OTHER]),
    *rows_of("vector by share", QUERIES, SHARED, SHARES),
    *rows_of(
        "laplace by share",
        QUERIES,
        {**SHARED, "mechanism": "laplace"},
        [Flaw("a subnormal share", {"share": 5e-324}, None, ".")],
    ),
    *rows_of(
        "poisson by share",
        QUERIES,
        {**SHARED, "mechanism": "poisson"},
        [Flaw("a subnormal share", {"share": 5e-324}, None, ".")],
    ),
]
