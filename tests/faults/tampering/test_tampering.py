"""Test random tampering with every table: refused, or found by the audit, or without effect."""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from sqlmodel import select
from tests.databases.homes import Home, Homes
from tests.faults.figures import parts
from tests.faults.stage import choices, vector_query
from tests.faults.tampering.probing import (
    HELD,
    KEY,
    PEOPLE,
    QUERIES,
    SENT,
    STREAM,
    TOKENS,
    Answers,
    Noise,
    judge,
    moment,
    reference,
)
from tests.faults.tampering.rows import Tampering, tamper
from tests.unit.sites import SITES

from penstock.persistence import row_authentication
from penstock.persistence.tables import Tier
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.approvals import proposals
from penstock.services.approvals.actions import BudgetChange
from penstock.services.audit import restores
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.jobs import idempotency
from penstock.services.operations import home
from penstock.services.people import tier_changes, tokens, users
from penstock.services.queries.registration import register
from penstock.services.releases import releases
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schemas.datasets import DatasetChange
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserChange, UserSpec
from penstock.services.schemas.proposals import ProposalView
from penstock.services.schemas.queries import (
    BudgetSpec,
    DatasetRequest,
    ReleaseRequest,
)
from penstock.services.schemas.streams import ElementsRequest, StreamRequest
from penstock.services.streams import stream_elements, stream_totals, streams
from penstock.services.verification import verification
from penstock.transparency_log.sights import Sight
from penstock.transparency_log.spending import account_name

pytestmark = pytest.mark.mainly_postgresql

AT_ONCE = 50
CHECKED_WITHOUT = 100
SILENT_WITHOUT_ROWS, SILENT_WITHOUT_LOG = 234, 3
"""Numbers of tamperings that are silent with the schema as it is now: a proposal made another one,
and a clearance taken away.

The search begins there, so that it ends at once; with another schema it goes on.
"""
BUDGETS = {"guest": {"epsilon": 0.5}, "public": {"epsilon": 0.9}, "internal": {"epsilon": 2.0}}
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
    """Return a home with something in every table but that of sparse histograms' states."""
    made = homes.empty(folder)
    server = home.open_server(made.settings(), clock=moment, randomness=Noise("made"))
    for tier in ("guest", "public", "internal"):
        tier_changes.create(server, OPERATOR, TierSpec(name=tier))
    for number, person in enumerate(PEOPLE):
        clearance = "public" if number == 0 else "internal"
        spec = UserSpec(name=person, roles=["analyst"], clearance=clearance)
        users.create(server, OPERATOR, spec)
    for person in ("ada", "bea"):
        users.create(server, OPERATOR, UserSpec(name=person, roles=["admin"]))
    datasets.register(
        server, OPERATOR, DatasetRequest.model_validate({**SITES, "budgets": BUDGETS})
    )
    _restore(server)
    raised = DatasetChange.model_validate({"budgets": {"public": {"epsilon": 1.0}}})
    budgets.change(server, OPERATOR, "sites", raised)
    _propose(server)
    for query, mechanism in zip(QUERIES, ("gaussian", "laplace"), strict=True):
        register(server, OPERATOR, vector_query(query, mechanism, levels=LEVELS))
    streams.open_stream(server, OPERATOR, StreamRequest.model_validate(HITS))
    sent = ElementsRequest.model_validate({"from": 1, "values": [3, 1, 4]})
    stream_elements.push(server, OPERATOR, STREAM, sent)
    _ask(server)
    users.change(server, OPERATOR, PEOPLE[2], UserChange(clearance="public"))
    _give_tokens(server, folder)
    begun = idempotency.open_request(
        server, acting_as(server, "ada"), KEY, idempotency.fingerprint(server, SENT)
    )
    assert isinstance(begun, idempotency.OpenRequest)
    idempotency.finish(server, begun, 201, b"{}")
    server.database.close()
    return made


def _restore(server: Server) -> None:
    """Go on after a restore that lost charges, so that accounts have spent something at least."""
    seen = server.sequencer.witness.seen()
    with server.database.read() as session:
        dataset = dataset_by_name(session, "sites")
        tiers_known = [tier.id or 0 for tier in session.exec(select(Tier)).all()]
    spent = {account_name(dataset, tier): (10**9, 10**9) for tier in tiers_known}
    server.sequencer.witness.start_over(Sight(seen.size + 1, bytes(32), spent))
    restores.acknowledge(server, OPERATOR)


def _propose(server: Server) -> None:
    """Make three proposals: approved, withdrawn and open."""
    ruled = replace(server, settings=server.settings.model_copy(update={"two_person_rule": True}))
    for epsilon, end in ((3.0, proposals.approve), (5.0, proposals.withdraw), (4.0, None)):
        act = BudgetChange(dataset="sites", budgets={"internal": BudgetSpec(epsilon=epsilon)})
        made = proposals.do_or_propose(ruled, acting_as(server, "ada"), act)
        assert isinstance(made, ProposalView)
        if end is not None:
            end(ruled, acting_as(server, "bea"), made.id)


def _ask(server: Server) -> None:
    for person in PEOPLE:
        for query in QUERIES:
            for wanted in HELD:
                asked = ReleaseRequest.model_validate(wanted)
                if person == PEOPLE[1] or wanted != {"epsilon": 0.11}:
                    releases.request(server, acting_as(server, person), query, asked)
        stream_totals.read(server, acting_as(server, person), STREAM)


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
    """Return the home that is altered again and again, and what it answers."""
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


@pytest.mark.parametrize("numbers", parts("FAULTS_TAMPERINGS", few=12, many=500, at_once=AT_ONCE))
def test_whatever_is_altered_is_refused_or_found_or_changes_nothing(
    made: tuple[Home, Answers],
    homes: Homes,
    tmp_path: Path,
    numbers: Sequence[int],
    record_property: Callable[[str, object], None],
) -> None:
    original, answers = made
    homes.remove()
    verdicts: Counter[str] = Counter()
    silent = []
    for number in numbers:
        done, verdict = _tampered(original, homes, answers, tmp_path, number)
        verdicts[verdict] += 1
        if verdict == "silent":
            silent.append(done)
    for verdict, count in verdicts.items():
        record_property(verdict, count)
    assert silent == []
    assert verdicts["refused"] + verdicts["found"] > len(numbers) // 4, verdicts


def test_without_holding_what_stands_to_the_log_tampering_is_silent(
    made: tuple[Home, Answers], homes: Homes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "differences", lambda *_: ())
    original, answers = made
    homes.remove()
    assert any(
        _tampered(original, homes, answers, tmp_path, number)[1] == "silent"
        for number in range(SILENT_WITHOUT_LOG, SILENT_WITHOUT_LOG + CHECKED_WITHOUT)
    )


def test_without_the_hmacs_of_rows_tampering_is_silent(
    made: tuple[Home, Answers], homes: Homes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_authentication, "is_signed", lambda *_: True)
    original, answers = made
    homes.remove()
    assert any(
        _tampered(original, homes, answers, tmp_path, number)[1] == "silent"
        for number in range(SILENT_WITHOUT_ROWS, SILENT_WITHOUT_ROWS + CHECKED_WITHOUT)
    )
