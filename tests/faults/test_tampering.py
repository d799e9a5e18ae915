"""Random tampering with every table: refused, or found by the audit, or without effect."""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.databases.homes import Home, Homes
from tests.faults.probing import (
    HELD,
    PEOPLE,
    QUERIES,
    STREAM,
    TOKENS,
    Answers,
    Noise,
    judge,
    moment,
    reference,
)
from tests.faults.stage import choices, figure, vector_query
from tests.faults.tampering import Tampering, tamper

from penstock.services import (
    budget,
    datasets,
    home,
    releases,
    stream_elements,
    stream_releases,
    streams,
    tiers,
    tokens,
    users,
    verification,
)
from penstock.services.principals import OPERATOR, acting_as
from penstock.services.queries import register
from penstock.services.server import Server
from penstock.services.specs import (
    DatasetChange,
    DatasetRequest,
    ReleaseRequest,
    TierSpec,
    TokenSpec,
    UserChange,
    UserSpec,
)
from penstock.services.stream_specs import ElementsRequest, StreamRequest

TAMPERINGS = figure("FAULTS_TAMPERINGS", 60)
AT_ONCE = 50
CHECKED_WITHOUT = 100
SITES = {
    "name": "sites",
    "source": {"engine": "vector"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "budgets": {"public": {"epsilon": 0.9}, "internal": {"epsilon": 2.0}},
}
LEVELS = {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.2}}
HITS = {
    "name": STREAM,
    "dataset": "sites",
    "mechanism": "gaussian",
    "structure": "kary",
    "k": 3,
    "length": 50,
    "max_steps_per_unit": 1,
    "levels": LEVELS,
}


def make(homes: Homes, folder: Path) -> Home:
    """A home with something in every table that requests write to."""
    made = homes.empty(folder)
    server = home.open_server(made.settings(), clock=moment, randomness=Noise("made"))
    for tier in ("public", "internal"):
        tiers.create(server, OPERATOR, TierSpec(name=tier))
    for number, person in enumerate(PEOPLE):
        clearance = "public" if number == 0 else "internal"
        spec = UserSpec(name=person, roles=["analyst"], clearance=clearance)
        users.create(server, OPERATOR, spec)
    users.create(server, OPERATOR, UserSpec(name="ada", roles=["admin"]))
    datasets.register(server, OPERATOR, DatasetRequest.model_validate(SITES))
    raised = DatasetChange.model_validate({"budgets": {"public": {"epsilon": 1.0}}})
    budget.change(server, OPERATOR, "sites", raised)
    for query, mechanism in zip(QUERIES, ("gaussian", "laplace"), strict=True):
        register(server, OPERATOR, vector_query(query, mechanism, levels=LEVELS))
    streams.open_stream(server, OPERATOR, StreamRequest.model_validate(HITS))
    sent = ElementsRequest.model_validate({"from": 1, "values": [3, 1, 4]})
    stream_elements.push(server, OPERATOR, STREAM, sent)
    _ask(server)
    users.change(server, OPERATOR, PEOPLE[2], UserChange(clearance="public"))
    _give_tokens(server, folder)
    server.database.close()
    return made


def _ask(server: Server) -> None:
    for person in PEOPLE:
        for query in QUERIES:
            for wanted in HELD:
                asked = ReleaseRequest.model_validate(wanted)
                if person == PEOPLE[1] or wanted != {"epsilon": 0.11}:
                    releases.request(server, acting_as(server, person), query, asked)
        stream_releases.read(server, acting_as(server, person), STREAM)


def _give_tokens(server: Server, folder: Path) -> None:
    given = {
        person: tokens.issue(server, OPERATOR, person, TokenSpec()) for person in (*PEOPLE, "ada")
    }
    given["revoked"] = tokens.issue(server, OPERATOR, "ada", TokenSpec())
    tokens.revoke(server, OPERATOR, "ada", given["revoked"].prefix)
    found = {name: one.token for name, one in given.items()}
    (folder / TOKENS).write_text(json.dumps(found))


@pytest.fixture
def made(
    backend: str, homes: Homes, prototype: Callable[..., Home], tmp_path: Path
) -> tuple[Home, Answers]:
    """The home that is altered again and again, and what it answers."""
    original = prototype(backend, "tampered", make)
    return original, reference(homes.copy(original, tmp_path / "reference"))


def _tampered(
    original: Home, homes: Homes, answers: Answers, folder: Path, number: int
) -> tuple[Tampering, str]:
    copy = homes.copy(original, folder / str(number))
    if homes.cluster is None:
        url = f"sqlite:///{copy.folder / 'database' / 'penstock.db'}"
    else:
        url = homes.cluster.url(copy.database or "", "postgres")
        url = url.replace("postgresql:", "postgresql+psycopg:")
    done = tamper(url, choices("tamper", number))
    verdict = judge(copy, answers)
    shutil.rmtree(copy.folder)
    homes.remove()
    return done, verdict.name


@pytest.mark.parametrize("part", range(max(1, TAMPERINGS // AT_ONCE)))
def test_whatever_is_altered_is_refused_or_found_or_changes_nothing(
    made: tuple[Home, Answers], homes: Homes, tmp_path: Path, part: int
) -> None:
    original, answers = made
    homes.remove()
    verdicts: Counter[str] = Counter()
    silent = []
    for number in range(part * AT_ONCE, (part + 1) * AT_ONCE):
        done, verdict = _tampered(original, homes, answers, tmp_path, number)
        verdicts[verdict] += 1
        if verdict == "silent":
            silent.append(done)
    assert silent == []
    assert verdicts["refused"] + verdicts["found"] > AT_ONCE // 4, verdicts


def test_without_holding_what_stands_to_the_log_tampering_is_silent(
    made: tuple[Home, Answers], homes: Homes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "standing", lambda *_: ())
    original, answers = made
    homes.remove()
    assert any(
        _tampered(original, homes, answers, tmp_path, number)[1] == "silent"
        for number in range(CHECKED_WITHOUT)
    )
