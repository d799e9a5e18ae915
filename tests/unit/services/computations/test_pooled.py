"""Test computations elsewhere: the same to the last digit, nobody's but one's own, and no data."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from pydantic import TypeAdapter
from sqlmodel import select
from tests.unit.sites import VISITS
from tests.unit.worlds import World

from penstock.accounting import Entry
from penstock.computing import Bounds, LocalTurns, Outcome, Pool
from penstock.errors import InvalidInput
from penstock.persistence.tables import Charge
from penstock.services.computations import wire
from penstock.services.computations.job_kinds import JOBS, forget
from penstock.services.computations.pooled import MODULE, Pooled
from penstock.services.computations.power_advice import _at
from penstock.services.context import Server
from penstock.services.exposure import by_query, compositions, exposure
from penstock.services.pagination import Window
from penstock.services.previews import query_preview, stream_preview
from penstock.services.schemas.queries import PreviewRequest, PushedVectorRequest
from penstock.services.schemas.streams import StreamRequest

VECTOR = {name: part for name, part in VISITS.items() if name != "values"} | {"name": "planned"}
SHARE = {**VECTOR, "levels": None, "share": 0.01}
STREAM: dict[str, Any] = {
    "name": "stream",
    "dataset": "sites",
    "mechanism": "gaussian",
    "length": 64,
    "max_steps_per_unit": 1,
    "levels": VISITS["levels"],
}
WHOLE: dict[str, Any] = {"public": {"level": 10**8}, "internal": {"level": 10**6}}
QUERIES: dict[str, dict[str, Any]] = {
    "gaussian": VECTOR,
    "laplace": {**VECTOR, "mechanism": "laplace"},
    "whole": {**VECTOR, "mechanism": "laplace", "granularity": 1},
    "poisson": {**VECTOR, "mechanism": "poisson", "levels": WHOLE},
    "skellam": {**VECTOR, "mechanism": "skellam", "levels": WHOLE},
    "generalized": {**VECTOR, "mechanism": "generalized_gaussian", "p": 3},
    "share": SHARE,
    "registered": {"query": "visits"},
}
TWICE = {"gaussian", "registered"}
"""What another person asks as well, who may know less."""

CANARY = 918_273_645


class Notes:
    def __init__(self) -> None:
        self.told: list[tuple[str, Outcome, float]] = []

    def __call__(self, person: str, outcome: Outcome, seconds: float) -> None:
        self.told.append((person, outcome, seconds))


@pytest.fixture(scope="module")
def pool() -> Iterator[tuple[Pool, Notes]]:
    notes = Notes()
    made = Pool(
        MODULE,
        processes=1,
        queue=1,
        bounds=Bounds(60.0, 2**31),
        turns=LocalTurns(),
        noted=notes,
    )
    yield made, notes
    made.close()


@pytest.fixture
def elsewhere(visits: World, pool: tuple[Pool, Notes]) -> Server:
    pool[1].told.clear()
    return replace(visits.server, computing=Pooled(pool[0]))


def asked(spec: dict[str, Any]) -> Any:
    return TypeAdapter[Any](PreviewRequest).validate_python(spec)


def test_previews_are_the_same_here_and_elsewhere(
    visits: World, elsewhere: Server, pool: tuple[Pool, Notes]
) -> None:
    for name, spec in QUERIES.items():
        for person in ("ada", "paul") if name in TWICE else ("ada",):
            who = visits.person(person)
            here = query_preview.preview(visits.server, who, asked(spec))
            assert query_preview.preview(elsewhere, who, asked(spec)) == here, name
    assert len(pool[1].told) == len(QUERIES) + len(TWICE)
    assert sum(seconds for _, _, seconds in pool[1].told) > 0


@pytest.mark.parametrize("structure", ["auto", "buffered", "kary"])
def test_previews_of_streams_are_the_same(visits: World, elsewhere: Server, structure: str) -> None:
    request = StreamRequest.model_validate({**STREAM, "structure": structure})
    who = visits.person("ada")
    here = stream_preview.preview_stream(visits.server, who, request)
    assert stream_preview.preview_stream(elsewhere, who, request) == here


def test_a_query_is_charged_the_same_by_a_registration_elsewhere(
    visits: World, elsewhere: Server
) -> None:
    visits.push("here")
    replace(visits, server=elsewhere).push("there")
    with visits.server.database.read() as session:
        charges = session.exec(select(Charge)).all()
    paid = {key: [Entry(c.loss, c.failure) for c in charges if c.query_id == key] for key in (2, 3)}
    assert paid[2] == paid[3] != []


def test_reports_on_people_are_the_same(
    visits: World, elsewhere: Server, pool: tuple[Pool, Notes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compositions, "FEW", 0)
    people, auditor = ["pia", "paul", "ines"], visits.person("otto")
    for name in people:
        visits.ask(name)
    for ask in (
        lambda server: exposure.of(server, auditor, people),
        lambda server: by_query.shared(server, auditor, people, Window()),
    ):
        assert ask(elsewhere) == ask(visits.server)
    assert {(person, outcome) for person, outcome, _ in pool[1].told} == {("otto", Outcome.DONE)}


def test_a_refusal_has_its_place_elsewhere_too(visits: World, elsewhere: Server) -> None:
    spec = {**VECTOR, "mechanism": "laplace", "levels": {"public": {"rho": 1}}}
    refusals = []
    for server in (visits.server, elsewhere):
        with pytest.raises(InvalidInput) as refused:
            query_preview.preview(server, visits.person("ada"), asked(spec))
        refusals.append((refused.value.detail, refused.value.errors))
    assert refusals[0] == refusals[1]


def test_the_same_is_worked_out_once_for_each_person(
    visits: World, elsewhere: Server, pool: tuple[Pool, Notes]
) -> None:
    for person in ("ada", "ada", "paul", "ada", "paul"):
        query_preview.preview(elsewhere, visits.person(person), asked(VECTOR))
    assert [person for person, _, _ in pool[1].told] == ["ada", "paul"]


def test_exact_values_and_keys_do_not_cross() -> None:
    request = PushedVectorRequest.model_validate(
        {**VISITS, "keys": ["secret key", "b", "c"], "values": [CANARY, 7, 0]}
    )
    written = json.dumps(wire.written(request))
    assert str(CANARY) not in written
    assert "secret key" not in written
    assert wire.read(json.loads(written)).levels == request.levels


def test_what_is_not_on_the_list_does_not_cross(visits: World) -> None:
    for secret in (visits.server, visits.server.secrets, b"bytes", {1: object()}):
        with pytest.raises(TypeError, match="may not cross"):
            wire.written(secret)


def test_forgetting_leaves_nothing_that_would_answer_sooner() -> None:
    assert set(JOBS) >= {"calibrate_and_price", "quote", "describe", "quote_stream"}
    _at.cache_clear()
    forget()
    assert _at.cache_info().currsize == 0
