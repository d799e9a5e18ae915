"""Proofs that the log has not, and cursors of another list."""

from tests.api.bad_input.row import Row

INCLUSION, CONSISTENCY = "/api/v1/audit/proof/inclusion", "/api/v1/audit/proof/consistency"
NUMBERS = {
    "a word": ("index=first", "/index", "must be an integer"),
    "no leaf": ("", "/index", "is required"),
    "a leaf before the first": ("index=-1", "/index", "at least 0"),
    "a leaf behind the last": ("index=1000000", "/index", "has no leaf 1000000"),
    "a leaf of 5,000 digits": (f"index={'9' * 5000}", "/index", "fewer digits"),
    "half a leaf": ("index=0.5", "/index", "must be an integer"),
    "a leaf of a smaller tree": ("index=3&size=3", "/index", "from 0 to 2"),
    "a tree of nothing": ("index=0&size=0", "/size", "at least 1"),
    "a tree larger than all": (f"index=0&size={2**60}", "/size", "at most"),
    "a tree that is not yet": ("index=0&size=1000000", "/size", "newest checkpoint"),
    "two leaves": ("index=0&index=1", "/index", "once"),
}
SIZES = {
    "backwards": ("from=3&to=2", "/from", "from 1 to 2"),
    "from nothing": ("from=0&to=2", "/from", "at least 1"),
    "to what is not yet": ("from=1&to=1000000", "/to", "newest checkpoint"),
    "to nowhere": ("from=1", "/to", "is required"),
    "from a word": ("from=NaN&to=2", "/from", "must be an integer"),
}
ROWS = [
    *(
        Row(f"inclusion: {name}", "GET", f"{INCLUSION}?{more}", says, pointer=pointer, by="olga")
        for name, (more, pointer, says) in NUMBERS.items()
    ),
    *(
        Row(f"consistency: {name}", "GET", f"{CONSISTENCY}?{more}", says, pointer=pointer, by="ann")
        for name, (more, pointer, says) in SIZES.items()
    ),
]
