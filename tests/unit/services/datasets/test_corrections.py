"""Test that correcting or withdrawing a wrong declaration leaves what was spent spent."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select
from tests.unit.services.datasets.stays import ROWS, query, register
from tests.unit.worlds import World, cut_off_before_the_anchor

from penstock.errors import BudgetExhausted, Conflict, Forbidden, InvalidInput, NameTaken, NotFound
from penstock.persistence.tables import Charge, Dataset, FormerDeclaration, Leaf, TierBudget
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.approvals import proposals
from penstock.services.approvals.actions import Withdrawal
from penstock.services.datasets import corrections, datasets
from penstock.services.datasets.fingerprints import fingerprint_of, salt_of
from penstock.services.exposure import exposure
from penstock.services.ledger import quotes
from penstock.services.ledger.charges import accounts_of
from penstock.services.operations import key_rotation
from penstock.services.pagination import Window
from penstock.services.people import tier_changes, users
from penstock.services.queries import level_changes, queries
from penstock.services.schemas.datasets import CorrectionRequest
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.users import UserSpec
from penstock.services.schemas.proposals import ProposalView
from penstock.services.schemas.queries import (
    LevelsChange,
    VersionRequest,
)
from penstock.services.schemas.streams import StreamRequest
from penstock.services.schemas.views import DatasetView
from penstock.services.streams import streams
from penstock.services.verification import verification

WRONG = {"type": "string", "categories": ["northern", "south", "west"]}
RIGHT = {"type": "string", "categories": ["north", "south", "west"]}
ACCURATE = {"public": {"epsilon": 0.5}, "internal": {"epsilon": 4.0}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "stays.csv"
    path.write_text(ROWS)
    return path


@pytest.fixture
def wrong(world: World, file: Path) -> World:
    """Return the dataset stays with a category that is called otherwise in the file."""
    return declared_wrongly(world, file)


def declared_wrongly(world: World, file: Path) -> World:
    columns = {
        "person": {"type": "string"},
        "town": WRONG,
        "visits": {"type": "integer", "lower": 0, "upper": 4},
    }
    register(world, file, columns=columns)
    return world


def correct(world: World, **wanted: Any) -> DatasetView:
    request = CorrectionRequest.model_validate(wanted or {"columns": {"town": RIGHT}})
    return corrections.correct(world.server, OPERATOR, "stays", request)


def withdraw(world: World, name: str = "stays") -> corrections.WithdrawnView:
    return corrections.withdraw(world.server, OPERATOR, name)


def shred(world: World) -> key_rotation.ShreddedView:
    return key_rotation.shred(world.server, OPERATOR, "stays")


def problems(world: World) -> list[str]:
    return verification.verify(world.server, OPERATOR).problems


def spent(world: World, tier: str = "internal") -> float:
    """Return what a tier's account with the newest version has spent, in the ledger's units."""
    with world.server.database.read() as session:
        dataset = session.exec(
            select(Dataset).where(Dataset.folded == "stays").order_by(Dataset.version.desc())  # type: ignore[attr-defined]
        ).first()
        assert dataset is not None
        found = [a for t, a in accounts_of(session, dataset) if t.name == tier and a is not None]
        return found[0].spent.loss


def test_a_wrong_category_is_corrected_while_nothing_is_charged(wrong: World) -> None:
    found = correct(wrong)
    assert (found.version, found.declaration) == (1, 2)
    assert found.columns["town"]["categories"] == ["north", "south", "west"]
    assert found.columns["visits"]["upper"] == 4
    assert query(wrong, levels=ACCURATE).name == "by_town"
    counts = wrong.ask("ines", "by_town").view.values
    assert abs(counts[0] - 400) < 30, "the rows that the category lost before"
    assert problems(wrong) == []


def test_everything_declared_may_be_corrected_while_nothing_is_charged(wrong: World) -> None:
    found = correct(
        wrong,
        privacy_unit={"rows": 1},
        neighboring="replace",
        delta=1e-9,
        max_units=1000,
        columns={"visits": None},
    )
    assert found.privacy_unit == {"rows": 1}
    assert (found.neighboring, found.delta) == ("replace", 1e-9)
    assert set(found.columns) == {"person", "town"}
    assert {one.delta for one in found.budgets.values()} == {1e-9}
    query(wrong, levels=ACCURATE)
    # As if it had been declared so from the start: the same accounts, the same charges.
    with wrong.server.database.read() as session:
        orders = {
            (row.tier_id, row.delta): row.order for row in session.exec(select(TierBudget)).all()
        }
        used = {(row.tier_id, row.order) for row in session.exec(select(Charge)).all()}
    assert used == {(tier, order) for (tier, delta), order in orders.items() if delta == 1e-9}
    assert problems(wrong) == []


def test_what_cannot_be_meant_corrects_nothing(wrong: World) -> None:
    before = datasets.show(wrong.server, OPERATOR, "stays")
    reversed_bounds = {"type": "integer", "lower": 4, "upper": 0}
    for wanted, words in (
        ({"columns": {"town": WRONG}}, "declared like this already"),
        ({"columns": {"nowhere": None}}, "not declared"),
        ({"columns": {"nowhere": {"type": "string"}}}, "nowhere"),
        ({"columns": {"person": None}}, "not declared under columns"),
        ({"privacy_unit": {"column": "absent"}}, "not declared"),
        ({"columns": {"visits": reversed_bounds}}, "lower"),
    ):
        with pytest.raises(InvalidInput, match=words):
            correct(wrong, **wanted)
    assert datasets.show(wrong.server, OPERATOR, "stays") == before


def test_after_a_charge_the_corrected_declaration_has_what_was_spent(wrong: World) -> None:
    query(wrong)
    before = spent(wrong)
    granted = datasets.show(wrong.server, OPERATOR, "stays").budgets
    assert before > 0
    found = correct(wrong)
    assert (found.version, found.declaration, found.budgets) == (1, 2, granted)
    assert spent(wrong) == before
    query(wrong, name="again", levels={"internal": {"epsilon": 0.2}})
    assert spent(wrong) > before
    with pytest.raises(BudgetExhausted, match="by_town"):
        query(wrong, name="more", levels={"internal": {"epsilon": 7.9}}, where=[TOWN])
    assert problems(wrong) == []


TOWN = {"column": "town", "op": "=", "value": "north"}


def test_levels_of_the_old_declaration_count_in_what_people_lose(wrong: World) -> None:
    low = {"internal": {"epsilon": 0.5}}
    query(wrong, levels=low)
    wrong.ask("ines", "by_town")
    before = exposure.of(wrong.server, OPERATOR, ["ines"], "stays")
    correct(wrong)
    after = exposure.of(wrong.server, OPERATOR, ["ines"], "stays")
    assert after == before
    query(wrong, name="again", levels=low)
    wrong.ask("ines", "again")
    both = exposure.of(wrong.server, OPERATOR, ["ines"], "stays")
    assert both.released.epsilon == pytest.approx(2 * before.released.epsilon, rel=0.05)
    assert both.reach == before.reach, "one budget, and not one for each declaration"


def test_what_charges_are_stated_in_stays_once_there_are_any(wrong: World) -> None:
    query(wrong)
    before = datasets.show(wrong.server, OPERATOR, "stays")
    for wanted in (
        {"privacy_unit": {"rows": 1}},
        {"neighboring": "replace"},
        {"delta": 1e-5},
        {"columns": {"person": {"type": "integer"}}},
    ):
        with pytest.raises(Conflict, match="these cannot change"):
            correct(wrong, **wanted)
    assert datasets.show(wrong.server, OPERATOR, "stays") == before


def test_charges_of_an_earlier_version_hold_the_unit_of_a_later_one(
    wrong: World, tmp_path: Path
) -> None:
    query(wrong)
    later = tmp_path / "later.csv"
    later.write_text(ROWS + "q,north,1\n")
    source = {"engine": "duckdb", "uri": str(later)}
    wanted = {"source": source, "budgets": {"internal": {"epsilon": 8.0}}}
    datasets.add_version(wrong.server, OPERATOR, "stays", VersionRequest.model_validate(wanted))
    with pytest.raises(Conflict, match="these cannot change"):
        correct(wrong, privacy_unit={"rows": 1})
    assert correct(wrong).version == 2


def test_a_query_keeps_the_declaration_that_it_was_registered_under(wrong: World) -> None:
    query(wrong, levels={"internal": {"epsilon": 0.5}})
    correct(wrong)
    # Its ceiling is raised, which reads the file again: as it was declared then.
    wanted = LevelsChange.model_validate({"levels": {"internal": {"epsilon": 2}}})
    level_changes.change(wrong.server, OPERATOR, "by_town", wanted)
    assert wrong.ask("ines", "by_town").view.values[0] < 30, "no row is called northern"
    query(wrong, name="again", levels={"internal": {"epsilon": 1}})
    assert wrong.ask("ines", "again").view.values[0] > 370
    assert problems(wrong) == []


def test_an_interrupted_registration_is_finished_as_it_was_charged(
    wrong: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_off_before_the_anchor(monkeypatch, lambda: query(wrong))
    before = spent(wrong)
    correct(wrong)
    query(wrong)
    assert spent(wrong) == before
    assert wrong.ask("ines", "by_town").view.values[0] < 30
    assert problems(wrong) == []


@pytest.mark.parametrize("act", [correct, withdraw, shred])
def test_a_registration_that_saw_another_declaration_charges_nothing(
    wrong: World, monkeypatch: pytest.MonkeyPatch, act: Callable[[World], object]
) -> None:
    settled = quotes.calibrate_and_price

    def meanwhile(*given: Any) -> Any:
        monkeypatch.setattr(quotes, "calibrate_and_price", settled)
        act(wrong)
        return settled(*given)

    monkeypatch.setattr(quotes, "calibrate_and_price", meanwhile)
    with pytest.raises(Conflict, match="in the meantime"):
        query(wrong)
    with wrong.server.database.read() as session:
        assert session.exec(select(Charge)).all() == []


def test_a_stream_counts_as_charged(wrong: World) -> None:
    request = StreamRequest.model_validate(
        {
            "name": "daily",
            "dataset": "stays",
            "structure": "binary",
            "length": 8,
            "dimension": 1,
            "sensitivity": {"l1": 1},
            "max_steps_per_unit": 1,
            "mechanism": "gaussian",
            "levels": {"internal": {"epsilon": 1}},
        }
    )
    streams.open_stream(wrong.server, OPERATOR, request)
    with pytest.raises(Conflict, match="stays spent"):
        withdraw(wrong)
    with pytest.raises(Conflict, match="these cannot change"):
        correct(wrong, neighboring="replace")


def test_what_is_withdrawn_is_gone_and_its_file_and_name_may_be_registered_again(
    wrong: World, file: Path
) -> None:
    done = withdraw(wrong)
    assert (done.dataset, done.version, done.newest) == ("stays", 1, None)
    with pytest.raises(NotFound):
        datasets.show(wrong.server, OPERATOR, "stays")
    with pytest.raises(NotFound):
        query(wrong)
    with pytest.raises(NotFound):
        withdraw(wrong)
    window = Window(limit=100, after=-1)
    assert [one.name for one in datasets.listing(wrong.server, OPERATOR, window).items] == ["sites"]
    again = register(wrong, file)
    assert again.version == 2, "what the log says of version 1 is said of no other data"
    query(wrong)
    assert [one.version for one in budgets.show(wrong.server, OPERATOR, "stays").earlier] == []
    assert problems(wrong) == []
    # Its keys are its own as well.
    with wrong.server.database.read() as session:
        first, second = session.exec(select(Dataset).where(Dataset.folded == "stays")).all()
        assert salt_of(wrong.server, first) != salt_of(wrong.server, second)
        assert fingerprint_of(wrong.server, first) == fingerprint_of(wrong.server, second)


def test_a_later_version_is_withdrawn_and_the_earlier_one_goes_on(
    wrong: World, tmp_path: Path
) -> None:
    query(wrong)
    later = tmp_path / "later.csv"
    later.write_text(ROWS + "q,north,1\n")
    source = {"engine": "duckdb", "uri": str(later)}
    wanted = VersionRequest.model_validate(
        {"source": source, "budgets": {"internal": {"epsilon": 8.0}}}
    )
    datasets.add_version(wrong.server, OPERATOR, "stays", wanted)
    assert withdraw(wrong).newest == 1
    with pytest.raises(Conflict, match="stays spent"):
        withdraw(wrong)
    assert datasets.show(wrong.server, OPERATOR, "stays").version == 1
    assert datasets.add_version(wrong.server, OPERATOR, "stays", wanted).version == 3
    with pytest.raises(NameTaken):
        register(wrong, later)
    assert problems(wrong) == []


def test_tiers_move_whatever_a_withdrawn_dataset_granted(wrong: World) -> None:
    withdraw(wrong)
    before = budget_rows(wrong)
    tier_changes.create(wrong.server, OPERATOR, TierSpec(name="board"))
    assert budget_rows(wrong) == before, "a dataset that is gone is granted nothing more"
    assert problems(wrong) == []


def budget_rows(world: World) -> int:
    with world.server.database.read() as session:
        stays = session.exec(select(Dataset).where(Dataset.folded == "stays")).one()
        rows = session.exec(select(TierBudget).where(TierBudget.dataset_id == stays.id)).all()
        return len(rows)


def test_the_log_tells_of_both(wrong: World) -> None:
    correct(wrong)
    withdraw(wrong)
    with wrong.server.database.read() as session:
        rows = session.exec(select(Leaf.bytes).where(Leaf.dataset == "stays")).all()
    said = [json.loads(content) for content in rows]
    corrected, withdrawn = [one for one in said if one["kind"] == "dataset"][1:]
    assert corrected["changed"] == ["/columns/town"]
    assert (corrected["declaration"], len(corrected["declaration_sha256"])) == (2, 64)
    assert withdrawn["withdrawn"] is True
    assert withdrawn["version"] == 1
    assert b"northern" not in b"".join(rows), "what is declared stands in the database alone"


def test_an_audit_finds_a_declaration_that_was_put_back(wrong: World) -> None:
    correct(wrong)
    assert problems(wrong) == []
    with wrong.server.database.write() as session:
        dataset = session.exec(select(Dataset).where(Dataset.folded == "stays")).one()
        former = session.exec(select(FormerDeclaration)).one()
        dataset.spec = former.spec
        session.add(dataset)
    assert problems(wrong) == [
        "the declaration of dataset 'stays', version 1, is not that of the log"
    ]


def test_an_audit_finds_a_withdrawn_dataset_that_was_brought_back(wrong: World) -> None:
    withdraw(wrong)
    with wrong.server.database.write() as session:
        dataset = session.exec(select(Dataset).where(Dataset.folded == "stays")).one()
        dataset.withdrawn_at = None
        session.add(dataset)
    assert problems(wrong) == ["the datasets are not those of the log"]


def test_under_the_two_person_rule_withdrawing_takes_two(wrong: World) -> None:
    users.create(wrong.server, OPERATOR, UserSpec(name="bea", roles=["admin"]))
    settings = wrong.server.settings.model_copy(update={"two_person_rule": True})
    ruled = World(replace(wrong.server, settings=settings), wrong.clock, wrong.streams)
    with pytest.raises(Forbidden, match="Withdraw"):
        correct(ruled, delta=1e-5)
    correct(ruled)
    made = proposals.do_or_propose(ruled.server, ruled.person("ada"), Withdrawal(dataset="stays"))
    assert isinstance(made, ProposalView)
    assert datasets.show(ruled.server, OPERATOR, "stays").version == 1
    proposals.approve(ruled.server, ruled.person("bea"), made.id)
    with pytest.raises(NotFound):
        datasets.show(ruled.server, OPERATOR, "stays")
    assert problems(ruled) == []


@pytest.mark.parametrize("name", ["ines", "otto"])
def test_only_admins_correct_and_withdraw(wrong: World, name: str) -> None:
    request = CorrectionRequest.model_validate({"columns": {"town": RIGHT}})
    with pytest.raises(Forbidden):
        corrections.correct(wrong.server, wrong.person(name), "stays", request)
    with pytest.raises(Forbidden):
        corrections.withdraw(wrong.server, wrong.person(name), "stays")
    assert queries.listing(wrong.server, OPERATOR, Window(limit=9, after=-1)).items == []
