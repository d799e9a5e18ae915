"""Test that a request is approved with its charge, once, or declined; and what a refusal leaves."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select
from tests.unit.services.datasets.stays import BY_TOWN, ROWS, STAYS
from tests.unit.services.requests.requesting import (
    LEVELS,
    ask,
    decide,
    identifier,
    leaves,
    listed,
    problems,
    shown,
)
from tests.unit.worlds import World, cut_off_before_the_anchor

from penstock.errors import (
    BudgetExhausted,
    Conflict,
    Forbidden,
    NotFound,
    PenstockError,
    SourceChanged,
)
from penstock.persistence.tables import Charge, Query, RequestDecision
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import allowances, corrections, datasets
from penstock.services.exposure import exposure
from penstock.services.queries import queries, registration
from penstock.services.requests import asking, decisions
from penstock.services.schemas.datasets import AllowanceSpec, CorrectionRequest
from penstock.services.schemas.queries import ComputedQueryRequest, VersionRequest
from penstock.services.schemas.requests.specs import DecisionRequest
from penstock.services.schemas.requests.views import RequestView

pytestmark = pytest.mark.each_database

NORTH = [{"column": "town", "op": "=", "value": "north"}]
PUBLIC = {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.5}}


def counted(world: World) -> tuple[int, int, int]:
    """Return how many queries, charges and decisions are stored."""
    with world.server.database.read() as session:
        return tuple(  # type: ignore[return-value]  # three tables, three counts
            len(session.exec(select(table)).all()) for table in (Query, Charge, RequestDecision)
        )


def test_an_approval_registers_the_query_as_requested(stays: World) -> None:
    view = ask(stays)
    approved = decide(stays, "ada", view, "approve", comment="Of use to many.")
    assert (approved.state, approved.query, approved.decided_by) == ("approved", "by_town", "ada")
    own = shown(stays, "ines", view)
    assert (own.state, own.query) == ("approved", "by_town")
    assert [(each.by, each.comment) for each in own.comments] == [("ada", "Of use to many.")]
    assert own.preview is not None
    assert own.preview.registered
    assert stays.ask("ines", "by_town").first
    ends = [(leaf["act"], leaf["actor"], leaf.get("query")) for leaf in leaves(stays)]
    assert ends == [("ask", "ines", None), ("approved", "ada", "by_town")]
    assert problems(stays) == []


def test_the_admin_decides_who_sees_the_query_also_below_its_asker(stays: World) -> None:
    view = ask(stays)
    decide(stays, "ada", view, "approve", levels=PUBLIC, name="towns")
    seen = queries.show(stays.server, stays.person("pia"), "towns")
    assert [tier.tier for tier in seen.tiers] == ["public"]
    assert shown(stays, "ines", view).query == "towns"
    assert problems(stays) == []


def test_what_somebody_withdrew_is_not_what_is_registered(stays: World) -> None:
    first = ask(stays, "ines", name="by ines")
    second = ask(stays, "iris", name="by iris")
    asking.withdraw(stays.server, stays.person("ines"), identifier(first))
    assert decide(stays, "ada", second, "approve").query == "by iris"
    assert shown(stays, "ines", first).state == "withdrawn"
    assert shown(stays, "iris", second).query == "by iris"
    assert problems(stays) == []


@pytest.mark.parametrize("withdraws", [False, True])
def test_what_the_person_sent_is_registered_whose_request_is_approved(
    stays: World, withdraws: bool
) -> None:
    other = ask(stays, "ines", name="of ines")
    view = ask(stays, "pia", name="mine", levels={"public": {"epsilon": 0.1}})
    if withdraws:
        asking.withdraw(stays.server, stays.person("ines"), identifier(other))
    seen = shown(stays, "ada", view)
    assert (seen.id, seen.name, seen.requested_by) == (view.id, "mine", "pia")
    assert seen.spec == view.spec
    assert decide(stays, "ada", view, "approve").spec == view.spec
    own = shown(stays, "pia", view)
    assert (own.state, own.query) == ("approved", "mine")
    chosen = exposure.of(stays.server, stays.person("otto"), ["pia"], "stays").registrars
    assert chosen is not None
    assert chosen.tier == "public"
    assert problems(stays) == []


def test_what_is_withdrawn_while_it_is_approved_is_not_registered(
    stays: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ask(stays, "ines", name="by ines")
    second = ask(stays, "iris", name="by iris")
    register = registration.register

    def late(*sent: Any, **more: Any) -> Any:
        asking.withdraw(stays.server, stays.person("ines"), identifier(first))
        return register(*sent, **more)

    with monkeypatch.context() as patch:
        patch.setattr(registration, "register", late)
        with pytest.raises(Conflict, match=f"iris requests the same statistic, as {second.id}"):
            decide(stays, "ada", first, "approve")
    for decision in ("approve", "decline"):
        with pytest.raises(Conflict, match="ines withdrew"):
            decide(stays, "ada", first, decision)
    assert counted(stays) == (0, 0, 0)
    assert shown(stays, "ada", first).id == second.id
    assert decide(stays, "ada", second, "approve").query == "by iris"


def test_a_declined_request_is_over_and_may_be_made_again(stays: World) -> None:
    view = ask(stays)
    declined = decide(stays, "ada", view, "decline", comment="Too close to another query.")
    assert declined.state == "declined"
    assert counted(stays) == (0, 0, 1)
    assert [each.state for each in listed(stays, "ines", "declined")] == ["declined"]
    for decision in ("approve", "decline"):
        with pytest.raises(Conflict, match="declined already, by ada"):
            decide(stays, "bea", view, decision)
    assert ask(stays).id != view.id
    assert problems(stays) == []


def test_only_admins_decide_and_missing_requests_are_not_found(stays: World) -> None:
    view = ask(stays)
    for name in ("ines", "otto"):
        with pytest.raises(Forbidden):
            decide(stays, name, view, "approve")
    with pytest.raises(NotFound):
        decide(stays, "ada", replace(view, id="none"), "approve")


def test_under_the_two_person_rule_nobody_approves_their_own_request(stays: World) -> None:
    settings = stays.server.settings.model_copy(update={"two_person_rule": True})
    ruled = World(replace(stays.server, settings=settings), stays.clock, stays.streams)
    view = ask(ruled, "bea")
    with pytest.raises(Forbidden, match="nobody decides their own request"):
        decide(ruled, "bea", view, "approve")
    assert counted(ruled) == (0, 0, 0)
    assert decide(ruled, "ada", view, "approve").state == "approved"
    assert decide(stays, "bea", ask(stays, "bea", where=NORTH, name="north"), "approve").query


def test_a_refusal_before_the_charge_leaves_the_request_open(stays: World) -> None:
    view = ask(stays)
    with pytest.raises(BudgetExhausted, match="The request stays open"):
        decide(stays, "ada", view, "approve", levels={"internal": {"epsilon": 50.0}})
    path = next(Path(stays.server.settings.home).parent.rglob("stays.csv"))
    path.write_text("person,town,visits\np,north,1\n")
    with pytest.raises(SourceChanged, match="The request stays open"):
        decide(stays, "ada", view, "approve")
    assert counted(stays) == (0, 0, 0)
    assert shown(stays, "ines", view).state == "open"


def test_the_decision_is_stored_with_the_charge_or_not_at_all(
    stays: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = ask(stays)

    def broken(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(decisions, "record_decision", broken)
        with pytest.raises(KeyboardInterrupt):
            decide(stays, "ada", view, "approve")
    assert counted(stays) == (0, 0, 0)
    cut_off_before_the_anchor(monkeypatch, lambda: decide(stays, "ada", view, "approve"))
    assert counted(stays) == (1, 1, 1)
    assert [leaf["act"] for leaf in leaves(stays)] == ["ask", "approved"]


def test_an_approval_that_was_interrupted_is_finished_by_repeating_it(
    stays: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = ask(stays)
    more = {"levels": PUBLIC, "name": "towns"}
    cut_off_before_the_anchor(monkeypatch, lambda: decide(stays, "ada", view, "approve", **more))
    before = counted(stays)
    with pytest.raises(Conflict, match="approved already"):
        decide(stays, "ada", view, "decline")
    assert decide(stays, "bea", view, "approve").query == "towns"
    assert counted(stays) == before
    assert stays.ask("ines", "towns").first
    assert len(leaves(stays)) == 2
    with pytest.raises(Conflict, match="approved already, by ada"):
        decide(stays, "ada", view, "approve")
    assert problems(stays) == []


def test_two_decisions_at_once_are_one(stays: World) -> None:
    view = ask(stays)

    def tried(way: tuple[str, str]) -> str:
        try:
            return decide(stays, way[0], view, way[1]).state
        except PenstockError as problem:
            return type(problem).__name__

    ways = [("ada", "approve"), ("bea", "approve"), ("ada", "decline"), ("bea", "decline")]
    with ThreadPoolExecutor(len(ways)) as threads:
        outcomes = list(threads.map(tried, ways))
    assert len([outcome for outcome in outcomes if outcome in ("approved", "declined")]) == 1
    assert counted(stays)[2] == 1
    assert counted(stays)[0] == outcomes.count("approved")
    assert problems(stays) == []


def test_two_equal_requests_at_once_are_one(stays: World) -> None:
    def tried(name: str) -> RequestView:
        return ask(stays, name, name=f"by {name}")

    with ThreadPoolExecutor(3) as threads:
        views = list(threads.map(tried, ("ines", "iris", "bea")))
    (whole,) = listed(stays, "ada")
    assert {asker.id for asker in whole.askers} == {view.id for view in views}
    assert decide(stays, "ada", views[2], "approve").state == "approved"
    assert {
        shown(stays, name, view).state for name, view in zip(("ines", "iris"), views, strict=False)
    } == {"approved"}
    assert problems(stays) == []


def test_a_request_whose_query_is_hidden_from_its_asker_is_not_approved_for_nothing(
    stays: World,
) -> None:
    view = ask(stays, "pia", levels={"public": {"epsilon": 0.1}})
    spec = {**BY_TOWN, "name": "towns", "levels": LEVELS}
    registration.register(stays.server, OPERATOR, ComputedQueryRequest.model_validate(spec))
    with pytest.raises(Conflict, match="pia cannot see"):
        decide(stays, "ada", view, "approve")
    with pytest.raises(Conflict, match="which has a name and levels"):
        decide(stays, "ada", view, "approve", levels=PUBLIC)
    assert shown(stays, "pia", view).state == "open"


def test_a_request_for_an_older_version_is_refused_and_may_be_made_again(
    stays: World, tmp_path: Path
) -> None:
    old = ask(stays)
    file = tmp_path / "second.csv"
    file.write_text(ROWS.replace("p1,", "q1,"))
    version = {"budgets": STAYS["budgets"], "source": {"engine": "duckdb", "uri": str(file)}}
    datasets.add_version(stays.server, OPERATOR, "stays", VersionRequest.model_validate(version))
    for name in ("ines", "ada"):
        late = shown(stays, name, old)
        assert (late.state, late.dataset_version, late.preview) == ("open", 1, None)
        assert "for version 1 of dataset 'stays'" in (late.problem or "")
    with pytest.raises(Conflict, match="registered for version 2 now"):
        decide(stays, "ada", old, "approve")
    assert counted(stays) == (0, 0, 0)
    new = ask(stays)
    assert new.dataset_version == 2
    assert decide(stays, "ada", new, "approve").state == "approved"
    decide(stays, "ada", old, "decline")
    assert problems(stays) == []


def test_a_request_under_a_former_declaration_is_refused(stays: World) -> None:
    old = ask(stays)
    column = {"visits": {"type": "integer", "lower": 0, "upper": 3}}
    correction = CorrectionRequest.model_validate({"columns": column})
    corrections.correct(stays.server, OPERATOR, "stays", correction)
    for name in ("ines", "ada"):
        (late,) = listed(stays, name)
        assert "it cannot be approved" in (late.problem or "")
        assert shown(stays, name, old).problem == late.problem
    with pytest.raises(Conflict, match="another statistic"):
        decide(stays, "ada", old, "approve")
    previewed = DecisionRequest.model_validate({"decision": "approve", "name": "other"})
    with pytest.raises(Conflict, match="another statistic"):
        decisions.preview(stays.server, stays.person("ada"), identifier(old), previewed)
    assert counted(stays) == (0, 0, 0)
    assert decide(stays, "ada", ask(stays), "approve").state == "approved"


def test_a_request_that_equals_an_analysts_query_leads_there(stays: World) -> None:
    view = ask(stays, "iris")
    allowances.give(stays.server, OPERATOR, "stays", "internal", AllowanceSpec(epsilon=4.0))
    own = ComputedQueryRequest.model_validate({**BY_TOWN, "name": "mine", "levels": LEVELS})
    registration.register(stays.server, stays.person("ines"), own)
    assert shown(stays, "iris", view).query == "mine"
    seen = shown(stays, "ada", view)
    assert (seen.registered_as, seen.askers[0].sees_query) == ("mine@internal", True)
    assert decide(stays, "ada", view, "approve").query == "mine@internal"
    assert shown(stays, "iris", view).query == "mine"
    assert counted(stays)[0] == 1
    assert problems(stays) == []


def test_a_query_of_analysts_is_not_in_the_way_of_one_that_others_below_see(stays: World) -> None:
    allowances.give(stays.server, OPERATOR, "stays", "internal", AllowanceSpec(epsilon=4.0))
    iris = ask(stays, "iris")
    own = ComputedQueryRequest.model_validate({**BY_TOWN, "name": "mine", "levels": LEVELS})
    registration.register(stays.server, stays.person("ines"), own)
    pia = ask(stays, "pia", name="all", levels={"public": {"epsilon": 0.1}})
    seen = shown(stays, "ada", pia)
    assert seen.registered_as is None
    assert [asker.sees_query for asker in seen.askers] == [True, False]
    with pytest.raises(Conflict, match="registered already, as query 'mine'"):
        decide(stays, "ada", iris, "approve")
    decide(stays, "ada", pia, "approve")
    assert shown(stays, "pia", pia).query == shown(stays, "iris", iris).query == "all"
    assert problems(stays) == []


def test_an_approval_does_not_lead_to_a_retired_query(stays: World) -> None:
    view = ask(stays)
    spec = {**BY_TOWN, "name": "towns", "levels": LEVELS}
    registration.register(stays.server, OPERATOR, ComputedQueryRequest.model_validate(spec))
    queries.retire(stays.server, OPERATOR, "towns")
    for name in ("ines", "ada"):
        late = shown(stays, name, view)
        assert (late.state, late.query, late.preview) == ("open", None, None)
        assert "'towns', which is retired" in (late.problem or "")
    assert [each.id for each in listed(stays, "ines", "open")] == [view.id]
    with pytest.raises(Conflict, match="which is retired"):
        decide(stays, "ada", view, "approve")
    assert decide(stays, "ada", view, "decline").state == "declined"


def test_askers_count_among_those_who_chose_what_a_tier_may_see(stays: World) -> None:
    decide(stays, "ada", ask(stays), "approve", levels=PUBLIC)
    seen = exposure.of(stays.server, stays.person("otto"), ["pia"], "stays")
    assert seen.registrars is not None
    assert seen.registrars.tier == "internal"


def test_a_preview_of_a_decision_is_what_the_approval_registers(stays: World) -> None:
    """It takes the decision's levels and name, and leaves the request open."""
    view = ask(stays)
    sent = DecisionRequest.model_validate(
        {"decision": "approve", "levels": PUBLIC, "name": "towns"}
    )
    args = (stays.server, stays.person("ada"), identifier(view))
    previewed = decisions.preview(*args, sent)
    assert (previewed.query, previewed.registered) == ("towns", False)
    assert decisions.registered(*args) is None
    assert shown(stays, "ada", view).state == "open"
    registered = decisions.decide(*args, sent).preview
    assert registered is not None
    assert decisions.registered(*args) == "towns"
    assert [(tier.tier, tier.level, tier.charge) for tier in previewed.tiers] == [
        (tier.tier, tier.level, tier.charge) for tier in registered.tiers
    ]
    with pytest.raises(Conflict, match="approved already"):
        decisions.preview(*args, sent)
    withdrawn = ask(stays, where=[{"column": "town", "op": "=", "value": "north"}])
    asking.withdraw(stays.server, stays.person("ines"), identifier(withdrawn))
    with pytest.raises(Conflict, match="was withdrawn"):
        decisions.preview(stays.server, stays.person("ada"), identifier(withdrawn), sent)
