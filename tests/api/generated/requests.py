"""Provide requests made from the OpenAPI document, some of them woven with what exists.

Requests that are generated from a schema alone name nothing that is there, and hardly ever
pass the checks between fields.  So a share of them take known names, or are a body that is
good but for some of its fields.
"""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from schemathesis import Case, GenerationMode
from schemathesis.core import NOT_SET
from schemathesis.schemas import APIOperation

Operation = APIOperation[Any, Any, Any, Any]
Request = Case[Any]
TIERED = ("levels", "budgets")
TIERS = ("public", "internal", "street")


def requests_to(
    operation: Operation,
    mode: GenerationMode,
    known: Mapping[str, tuple[str, ...]],
    good: list[dict[str, Any]],
) -> SearchStrategy[Request]:
    """Return requests to an operation: by its schemas (positive) or against them (negative)."""
    plain = operation.as_strategy(generation_mode=mode)

    @st.composite
    def woven(draw: DrawFn) -> Request:
        case = draw(plain)
        if draw(st.integers(0, 3)):
            _name(case.path_parameters, known, draw)
        if draw(st.booleans()) and case.query:
            _name(case.query, known, draw)
        if draw(st.integers(0, 2)) and good:
            case.body = _body(draw(st.sampled_from(good)), case.body, draw)
        return case

    return woven()


def _name(
    parameters: dict[str, Any] | None, known: Mapping[str, tuple[str, ...]], draw: DrawFn
) -> None:
    for name in parameters or {}:
        if parameters is not None and name in known:
            parameters[name] = draw(st.sampled_from(known[name]))


def _body(good: dict[str, Any], generated: object, draw: DrawFn) -> dict[str, Any]:
    """Draw ``good`` with up to two fields from ``generated``, or a tier's level from there."""
    body = dict(good)
    if generated is NOT_SET or not isinstance(generated, dict):
        return body
    taken = draw(st.lists(st.sampled_from(sorted(generated)), max_size=2)) if generated else []
    for name in taken:
        part = generated[name]
        if name in TIERED and isinstance(part, dict):
            part = {draw(st.sampled_from(TIERS)): inner for inner in part.values()}
        body[name] = part
    return body
