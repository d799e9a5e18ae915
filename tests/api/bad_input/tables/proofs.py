"""Provide requests for proofs that the log does not have, and cursors of another list."""

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
NOTES: dict[str, tuple[object, str, str]] = {
    "no note": ({}, "/note", "cosigner's line"),
    "a note of numbers": ({"note": 7}, "/note", "string"),
    "a note of 20,000 letters": ({"note": "x" * 20_000}, "/note", "at most"),
    "a note without signatures": ({"note": "log"}, "/note", "cannot be read"),
    "a note of a stranger": (
        {"note": "log\n1\nAAAA\n\n\u2014 cosigner AAAAAAAA\n"},
        "/note",
        "PENSTOCK_COSIGNERS",
    ),
}
COSIGNED = {
    "by a word": ("cosigned=many", "/cosigned", "must be an integer"),
    "by too many": ("cosigned=17", "/cosigned", "at most 16"),
    "in another form": ("format=xml", "/format", "json"),
}
PERIODS = {
    "of no dataset": ("", "/dataset", "is required"),
    "to the future": ("dataset=sites&to=2126-01-01T00:00:00Z", "/to", "has happened"),
    "from the future": ("dataset=sites&from=2126-01-01T00:00:00Z", "/from", "after its end"),
    "backwards": (
        "dataset=sites&from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
        "/from",
        "after its end",
    ),
    "without a time zone": ("dataset=sites&from=2026-01-02T00:00:00", "/from", "offset"),
    "on no date": ("dataset=sites&to=tomorrow", "/to", "RFC 3339"),
    "in another form": ("dataset=sites&format=docx", "/format", "pdf"),
    "of two datasets": ("dataset=sites&dataset=other", "/dataset", "once"),
}
ROWS = [
    *(
        Row(
            f"report: {name}",
            "GET",
            f"/api/v1/audit/report?{more}",
            says,
            pointer=pointer,
            by="olga",
        )
        for name, (more, pointer, says) in PERIODS.items()
    ),
    *(
        Row(
            f"cosignature: {name}",
            "POST",
            "/api/v1/audit/cosignatures",
            says,
            pointer=pointer,
            body=body,
            by="olga",
        )
        for name, (body, pointer, says) in NOTES.items()
    ),
    *(
        Row(
            f"checkpoint: {name}",
            "GET",
            f"/api/v1/audit/checkpoint?{more}",
            says,
            pointer=pointer,
            by="ann",
        )
        for name, (more, pointer, says) in COSIGNED.items()
    ),
    *(
        Row(f"inclusion: {name}", "GET", f"{INCLUSION}?{more}", says, pointer=pointer, by="olga")
        for name, (more, pointer, says) in NUMBERS.items()
    ),
    *(
        Row(f"consistency: {name}", "GET", f"{CONSISTENCY}?{more}", says, pointer=pointer, by="ann")
        for name, (more, pointer, says) in SIZES.items()
    ),
]
