"""Provide the documents that scripts rely on, field by field."""

from tests.contracts.shapes import (
    Shape,
    a_list,
    count,
    digest,
    exactly,
    flag,
    mapping,
    maybe_empty,
    maybe_text,
    moment,
    nothing,
    number,
    positive,
    text,
)


def listed(item: Shape) -> Shape:
    """Return a page that is the last, with something on it."""
    return {"items": [item], "next_cursor": nothing}


LOSS: Shape = {"epsilon": number, "delta": positive}
LEVEL: Shape = {"parameter": exactly("variance"), "value": positive}
GUARANTEE: Shape = {
    "definition": exactly("zcdp"),
    "rho": positive,
    "epsilon": positive,
    "delta": positive,
}
ERROR: Shape = {"standard_deviation": positive, "confidence": positive, "half_width": positive}
RECEIPT: Shape = {"index": count, "leaf_hash": digest, "leaf": text, "checkpoint": text}
HANDED_OUT: dict[str, Shape] = {
    "id": text,
    "query": exactly("visits"),
    "dataset": exactly("sites"),
    "tier": text,
    "mechanism": exactly("gaussian"),
    "level": LEVEL,
    "guarantee": GUARANTEE,
    "error": ERROR,
    "released_at": moment,
    "receipt": RECEIPT,
}
RELEASE: dict[str, Shape] = {
    **HANDED_OUT,
    "granularity": positive,
    "keys": [text],
    "values": [number],
}
EVENT: dict[str, Shape] = {
    "index": count,
    "leaf_hash": digest,
    "v": exactly(2),
    "nonce": text,
    "kind": text,
    "at": moment,
    "actor": text,
}
HAND_OUT_EVENT: Shape = {
    **EVENT,
    "kind": exactly("release"),
    "actor": exactly("ann"),
    "user": exactly("ann"),
    "dataset": exactly("sites"),
    "query": exactly("visits"),
    "tier": exactly("public"),
    "level": mapping,
    "release": text,
    "value_hmac": text,
}
ME: Shape = {"name": text, "roles": [text], "clearance": maybe_text, "token_expires": moment}
TIER: Shape = {"name": text, "rank": count, "description": exactly("")}
USER: Shape = {"name": text, "roles": [text], "clearance": maybe_text, "active": flag}
TOKEN: Shape = {"token": text, "prefix": text, "expires": moment}
HELD_TOKEN: Shape = {"prefix": text, "created": moment, "expires": moment, "revoked": nothing}
DATASET: Shape = {
    "name": exactly("sites"),
    "source": {"engine": exactly("vector")},
    "neighboring": exactly("add_remove"),
    "delta": positive,
    "budgets": {"public": LOSS, "internal": LOSS},
}
QUERY: Shape = {
    "name": text,
    "dataset": exactly("sites"),
    "mechanism": exactly("gaussian"),
    "sensitivity": {"l1": positive, "l2": positive, "linf": positive},
    "dimension": exactly(2),
    "tiers": [{"tier": text, "level": LEVEL, "guarantee": GUARANTEE, "error": ERROR}],
}
CHARGE: Shape = {"order": positive, "loss": positive, "failure": positive, "share": positive}
PREVIEW: Shape = {
    "sensitivity": {"l1": positive, "l2": positive, "linf": positive},
    "dimension": exactly(2),
    "tiers": [
        {"tier": text, "level": LEVEL, "guarantee": GUARANTEE, "charge": CHARGE, "error": ERROR}
    ],
}
BUDGET: Shape = {
    "dataset": exactly("sites"),
    "tiers": [
        {
            "tier": text,
            "granted": LOSS,
            "spent": LOSS,
            "remaining": LOSS,
            "queries": [{"query": text}],
        }
    ],
}
REACH: Shape = {"tier": text, "epsilon": positive, "delta": positive}
EXPOSURE: Shape = {
    "users": [text],
    "queries": [{"query": exactly("visits"), "level": LEVEL, "guarantee": GUARANTEE}],
    "released": LOSS,
    "could_be": LOSS,
    "independent": LOSS,
    "reach": REACH,
}
ACCOUNT_IN_REPORT: Shape = {
    "version": exactly(1),
    "tier": text,
    "granted": LOSS,
    "spent": LOSS,
    "spent_share": number,
}
REPORT: Shape = {
    "facts": {
        "format": exactly("penstock audit report v1"),
        "dataset": exactly("sites"),
        "dataset_title": exactly(""),
        "versions": exactly(1),
        "start": nothing,
        "end": moment,
        "made_at": moment,
        "made_by": text,
        "releases": count,
        "people": count,
        "tiers": [{"tier": text, "users": count, "releases": count, "queries": count}],
        "given": [
            {
                "tier": text,
                "user": text,
                "releases": count,
                "queries": count,
                "best_query": exactly("visits"),
                "best_title": exactly(""),
                "best_error": ERROR,
            }
        ],
        "budgets": [ACCOUNT_IN_REPORT],
        "coalitions": [
            {"up_to": text, "users": [text], "released": LOSS, "could_be": LOSS, "reach": REACH}
        ],
        "log": {
            "size": count,
            "root_hash": digest,
            "signed_at": moment,
            "checkpoint": text,
            "signature": flag,
            "root": flag,
            "consistent_from": count,
            "consistent": flag,
            "witness": flag,
            "witness_size": count,
            "cosigned_by": a_list,
        },
    },
    "facts_sha256": digest,
    "note": text,
    "key": digest,
}
PROBLEM: dict[str, Shape] = {
    "type": text,
    "title": text,
    "status": count,
    "detail": text,
    "code": text,
    "errors": a_list,
    "request_id": text,
}
PROBLEM_WITH_PLACES: Shape = {**PROBLEM, "errors": [{"pointer": maybe_empty, "detail": text}]}
EXHAUSTED: Shape = {
    **PROBLEM,
    "tier": exactly("public"),
    "needed_share": positive,
    "remaining_share": number,
    "largest_share": number,
    "spent_by": [{"query": exactly("visits"), "share": positive}],
}
DOCUMENT: Shape = {"openapi": text, "info": mapping, "paths": mapping}
