"""Test people who decide proposals at the same time: each is decided once, and told once."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import col, select
from tests.faults import processes
from tests.faults.figures import amounts
from tests.faults.races.deciding import (
    Decide,
    admin,
    approving,
    compete,
    deciding,
    looking_before,
    ruled,
)
from tests.faults.races.unguarded import drop_uniques
from tests.faults.stage import build, opened

from penstock.persistence.tables import Decision, Leaf, Proposal, Query
from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.approvals import proposals
from penstock.services.approvals.actions import QueryRetirement
from penstock.services.people import users
from penstock.services.schemas.people.users import UserSpec
from penstock.services.schemas.proposals import ProposalView
from penstock.services.verification.verification import verify

pytestmark = pytest.mark.each_database

QUERIES = [f"query-{number}" for number in range(6)]
PROPOSERS = ("ada", "bea")
UNIQUE = "UNIQUE (proposal_id)"


@dataclass(frozen=True)
class Outcome:
    """Hold what became of one proposal."""

    query: str
    decisions: tuple[tuple[str, str], ...]
    """The outcome, and who decided."""
    leaves: tuple[tuple[str, str], ...]
    """The outcomes and deciders that the log tells."""
    told: tuple[tuple[str, str], ...]
    """The outcomes and deciders by those who were told that they decided."""


def propose(home: Path, count: int) -> None:
    """Build a home with ``count`` admins, and two proposals to retire each query."""
    build(home, analysts=0, names=QUERIES)
    with opened(home) as server:
        for name in (*PROPOSERS, *(admin(number) for number in range(count))):
            users.create(server, OPERATOR, UserSpec(name=name, roles=["admin"]))
        rule = ruled(server)
        for query in QUERIES:
            for proposer in PROPOSERS:
                act = QueryRetirement(query=query)
                view = proposals.do_or_propose(rule, acting_as(rule, proposer), act)
                assert isinstance(view, ProposalView)


@pytest.fixture
def proposed(tmp_path: Path, template: Callable[..., Path]) -> Callable[[int], list[str]]:
    """Return ``proposed(count)``, which gives the proposals in a home that has ``count`` admins."""

    def copy(count: int) -> list[str]:
        name = f"proposed-{count}"
        home = template(tmp_path / "home", name, lambda place: propose(place, count))
        with opened(home) as server, server.database.read() as session:
            rows = session.exec(select(Proposal).order_by(col(Proposal.id))).all()
            return [row.public_id for row in rows]

    return copy


def run(folder: Path, count: int, wanted: list[str], decide: Decide) -> list[Outcome]:
    """Let so many admins decide the proposals at once, each in a process of its own."""
    home, barrier = folder / "home", processes.barrier(count)
    processes.finish(
        [
            processes.start(
                *(folder / f"errors-{number}", compete, home, number, wanted),
                *(decide, barrier, folder / f"told-{number}"),
            )
            for number in range(count)
        ]
    )
    told = {
        admin(number): json.loads((folder / f"told-{number}").read_text())
        for number in range(count)
    }
    return outcomes(home, told)


def outcomes(home: Path, told: dict[str, dict[str, str]]) -> list[Outcome]:
    with opened(home) as server, server.database.read() as session:
        made = session.exec(select(Proposal)).all()
        decisions = session.exec(select(Decision)).all()
        leaves = [json.loads(leaf.bytes) for leaf in session.exec(select(Leaf)).all()]
    logged = [leaf for leaf in leaves if leaf["kind"] == "proposal" and leaf["state"] != "open"]
    return [
        Outcome(
            json.loads(one.request)["query"],
            tuple((row.outcome, row.by) for row in decisions if row.proposal_id == one.id),
            tuple((leaf["state"], leaf["actor"]) for leaf in logged if _about(leaf, one)),
            tuple(
                (said[one.public_id], who) for who, said in told.items() if one.public_id in said
            ),
        )
        for one in made
    ]


def _about(leaf: dict[str, Any], proposal: Proposal) -> bool:
    return bool(leaf["proposal"] == proposal.public_id)


def retired(home: Path) -> tuple[set[str], Counter[str]]:
    """Return the queries that are retired, and how often the log tells so of each."""
    with opened(home) as server:
        assert verify(server, OPERATOR).problems == []
        with server.database.read() as session:
            queries = session.exec(select(Query).where(Query.status == "retired")).all()
            leaves = [json.loads(leaf.bytes) for leaf in session.exec(select(Leaf)).all()]
    told = Counter(leaf["query"] for leaf in leaves if leaf.get("retired"))
    return {query.name for query in queries}, told


def check(folder: Path, found: list[Outcome]) -> Counter[str]:
    """Require that each proposal was decided once, by whoever was told so, and done if approved."""
    for one in found:
        assert len(one.decisions) == 1
        assert one.leaves == one.decisions
        ((outcome, _),) = one.decisions
        # Whoever finds that it cannot be done any more is refused as the others are.
        assert one.told == (() if outcome == "failed" else one.decisions)
    approved = Counter(one.query for one in found if one.decisions[0][0] == "approved")
    assert set(approved.values()) <= {1}
    assert retired(folder / "home") == (set(approved), approved)
    return Counter(one.decisions[0][0] for one in found)


Proposed = Callable[[int], list[str]]
at_once = pytest.mark.parametrize("count", amounts("FAULTS_RACE_PROCESSES", few=8, many=16))


@at_once
def test_a_proposal_that_many_approve_at_once_is_carried_out_once(
    tmp_path: Path, proposed: Proposed, count: int
) -> None:
    found = check(tmp_path, run(tmp_path, count, proposed(count), approving))
    # Of two proposals of one act the first is done, and the other cannot be any more.
    assert found == {"approved": len(QUERIES), "failed": len(QUERIES)}


@at_once
def test_a_proposal_is_approved_or_withdrawn_and_never_both(
    tmp_path: Path, proposed: Proposed, count: int
) -> None:
    wanted = proposed(count)
    found = check(tmp_path, run(tmp_path, count, wanted, deciding))
    assert found.total() == len(wanted)


def test_the_unique_alone_lets_one_of_them_decide(tmp_path: Path, proposed: Proposed) -> None:
    wanted = proposed(8)[:1]
    first, *_ = run(tmp_path, 4, wanted, looking_before)
    assert len(first.decisions) == len(first.told) == 1
    assert first.leaves == first.decisions == first.told


def test_looking_before_the_lock_and_without_the_unique_it_is_decided_by_all(
    tmp_path: Path, proposed: Proposed
) -> None:
    wanted = proposed(8)[:1]
    drop_uniques(tmp_path / "home", UNIQUE, table="decision")
    first, *_ = run(tmp_path, 4, wanted, looking_before)
    assert len(first.decisions) == len(first.leaves) == 4
