"""Provide faults of allowances, and of who sees what analysts register by themselves."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

OWN: Final = "tests/unit/services/queries/charging/test_own_queries.py"
ROOM: Final = "tests/unit/services/allowances"
STORIES: Final = "tests/property/allowances/test_broken_moves.py::test_the_stories_hold"

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        name="allowance-not-read-under-the-lock",
        row="V83",
        path="services/queries/charging/own_queries.py",
        before="        allowance = require_same(session, principal, dataset, settled)\n",
        after="        allowance = settled\n",
        wrong="an allowance is taken from as it was before others took from it, or lost it",
        tests=(
            f"{OWN}::test_who_loses_it_while_their_query_is_priced_is_refused_and_charged_nothing",
            f"{OWN}::test_of_many_who_race_for_the_last_of_it_exactly_one_is_let_through",
        ),
    ),
    Mutant(
        name="allowance-not-compared",
        row="V83",
        path="services/queries/charging/own_queries.py",
        before="        require_room(session, allowance, own.counted)\n",
        after="",
        wrong="analysts register more than their allowance",
        tests=(f"{OWN}::test_the_last_of_an_allowance_is_refused_with_what_is_needed_and_left",),
    ),
    Mutant(
        name="own-query-not-charged-above",
        row="V83",
        path="services/allowances/own_levels.py",
        before="        if account is not None and other.rank >= tier.rank\n",
        after="        if account is not None and other.rank == tier.rank\n",
        wrong="the tiers above see a query and are not charged for it",
        tests=(
            f"{ROOM}/test_own_levels.py::test_every_tier_from_the_makers_up_pays_for_the_makers_level",
        ),
    ),
    Mutant(
        name="spent-before-forgotten",
        row="V83",
        path="services/datasets/allowances.py",
        before="Entry(0, 0) if account is None else spent_at(session, key, tier_id, account)\n",
        after="Entry(0, 0)\n",
        wrong="an allowance that is given again has all of its epsilon left",
        tests=(STORIES,),
    ),
    Mutant(
        name="own-query-not-exposed",
        row="V83",
        path="services/exposure/exposure.py",
        before="select(Query).where(col(Query.dataset_id).in_(dataset_ids))).all()\n",
        after="select(Query).where(col(Query.dataset_id).in_(dataset_ids))"
        ".where(col(Query.allowance_id).is_(None))).all()\n",
        wrong="what a coalition knows leaves out what analysts registered",
        tests=(STORIES,),
    ),
    Mutant(
        name="allowances-open-after-a-restore",
        row="V83",
        path="services/audit/restores.py",
        before="    allowances.take_all_back(session, server, principal)\n",
        after="",
        wrong="after a restore an allowance is open that was spent or taken back",
        tests=(
            "tests/unit/services/audit/test_restores.py::test_allowances_are_taken_back_since_nobody_knows_what_is_left_of_them",
        ),
    ),
    Mutant(
        name="read-above-asked-below",
        row="V84",
        path="services/allowances/open_allowances.py",
        before=" or higher_before(session, principal.user_id, tier) is not None:\n",
        after=":\n",
        wrong="who is demoted asks, visibly below, what they know from above",
        tests=(f"{OWN}::test_who_ever_held_a_higher_tier_registers_nothing_at_a_lower_one",),
    ),
    Mutant(
        name="level-below-the-maker",
        row="V84",
        path="services/queries/level_changes.py",
        before="    require_above_floor(session, query, tiers, rungs)\n",
        after="",
        wrong="an admin shows an analyst's question to tiers below",
        tests=(
            f"{ROOM}/test_floors.py::test_an_admin_cannot_give_it_a_level_below_and_is_told_why",
        ),
    ),
    Mutant(
        name="paying-tier-moved-below",
        row="V84",
        path="services/allowances/floors.py",
        before="{*allowed[required(query.id)], *charged.all()}",
        after="{*allowed[required(query.id)]}",
        wrong="the budget of a tier below a floor names a query that was registered at it",
        tests=(
            f"{ROOM}/test_floors.py::test_no_tier_that_pays_for_it_moves_below_a_floor_that_was_deleted",
        ),
    ),
    Mutant(
        name="moved-below-the-maker",
        row="V84",
        path="services/people/tier_changes.py",
        before="        require_floors_kept(session, queries, tiers, allowed)\n",
        after="",
        wrong="a tier that is moved down goes on to see what was asked above it",
        tests=(f"{ROOM}/test_floors.py::test_no_tier_that_sees_it_moves_below_its_floor",),
    ),
    Mutant(
        name="hidden-statistic-told",
        row="V84",
        path="services/allowances/own_names.py",
        before="col(Query.canonical_hash).in_(hashes), in_sight(lowest))",
        after="col(Query.canonical_hash).in_(hashes))",
        wrong="a refusal tells that somebody above asked the same",
        tests=(f"{ROOM}/test_own_names.py::test_a_name_and_a_statistic_above_are_in_nobodys_way",),
    ),
    Mutant(
        name="hidden-name-told",
        row="V84",
        path="services/allowances/own_names.py",
        before="    sight = or_(in_sight(tier), col(Query.folded) == folded(name))\n",
        after="    sight = col(Query.id) > 0\n",
        wrong="a refusal tells that a query above has a name",
        tests=(f"{ROOM}/test_own_names.py::test_a_name_and_a_statistic_above_are_in_nobodys_way",),
    ),
    Mutant(
        name="name-without-its-tiers-number",
        row="V84",
        path="services/allowances/own_names.py",
        before='    return f"{MARK}{tier.name}{NUMBER_MARK}{required(tier.id)}"\n',
        after='    return f"{MARK}{tier.name}"\n',
        wrong="hidden queries whose names end with a tier's are in its analysts' way",
        tests=(
            f"{ROOM}/test_own_names.py::test_a_hidden_name_with_the_readers_tier_behind_it_is_in_nobodys_way",
            f"{ROOM}/test_own_names.py::test_a_tier_made_later_or_again_is_not_told_of_hidden_names_that_end_with_its_own",
        ),
    ),
    Mutant(
        name="marks-of-some-tiers-refused",
        row="V84",
        path="services/allowances/own_names.py",
        before="    if MARK in name.removesuffix(_suffix(tier)):\n",
        after='    if f"{MARK}internal" in name.removesuffix(_suffix(tier)):\n',
        wrong="which names are refused tells which tiers exist",
        tests=(
            f"{ROOM}/test_own_names.py::test_a_name_with_the_mark_of_tiers_is_refused_whether_there_is_such_a_tier",
        ),
    ),
    Mutant(
        name="approved-for-others",
        row="V86",
        path="services/requests/views.py",
        before='state = "declined" if seen is None else "approved"',
        after='state = "approved"',
        wrong="a sender is told that their statistic is registered above their tier",
        tests=(
            "tests/unit/services/requests/test_approved_for_others.py::test_an_approval_at_levels_above_the_asker_is_declined_for_them",
        ),
    ),
    Mutant(
        name="budget-names-the-hidden",
        row="V84",
        path="services/repository/charges.py",
        before="_CHARGES if limit is None else _CHARGES.where(in_sight(limit))\n",
        after="_CHARGES\n",
        wrong="a tier reads in its budget the name of a query that it paid for and does not see",
        tests=(
            "tests/unit/services/repository/test_charges.py::test_a_charge_for_what_a_tier_cannot_see_is_left_out_for_it",
            "tests/unit/services/overviews/test_burn_downs.py::test_what_was_charged_for_a_query_out_of_sight_has_no_time_of_its_own",
        ),
    ),
)
