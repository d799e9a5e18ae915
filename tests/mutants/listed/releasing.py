"""Provide faults of releases: who may have them, and from what they are drawn."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

EXPECTED: Final = (
    "        return (look.edition, look.clearance) == (self.edition, self.clearance)\n"
)
UNCHANGED: Final = (
    "    if (state.edition, state.clearance) != (allowed.edition, allowed.clearance):\n"
)
LOCKED_STATE: Final = "tests/unit/services/releases/test_locked_state.py"
RELEASES: Final = "tests/unit/services/releases/test_releases.py"

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        name="release-above-clearance",
        path="services/releases/allowed.py",
        before="    if rung < own:\n",
        after="    if rung < 0:\n",
        wrong="a level more accurate than the clearance allows is handed out",
        tests=(
            "tests/unit/services/releases/test_releases.py::test_a_level_above_the_clearance_is_refused_and_draws_nothing",
        ),
        row="V4",
    ),
    Mutant(
        name="release-own-tier-refused",
        path="services/releases/allowed.py",
        before="    if tier.rank > clearance.rank:\n",
        after="    if tier.rank >= clearance.rank:\n",
        wrong="who names their own tier is refused",
        tests=(
            "tests/unit/services/queries/test_registration_work.py",
            "tests/api/sight/test_roles.py::test_everybody_gets_what_their_role_and_clearance_allow",
        ),
    ),
    Mutant(
        name="release-clearance-not-read-again",
        path="services/releases/locked_state.py",
        before=UNCHANGED,
        after="    if state.edition != allowed.edition:\n",
        wrong="a clearance that was taken away just before the lock still gives a release",
        tests=(LOCKED_STATE,),
    ),
    Mutant(
        name="release-edition-not-read-again",
        path="services/releases/locked_state.py",
        before=UNCHANGED,
        after="    if state.clearance != allowed.clearance:\n",
        wrong="a level that was lowered just before the lock is still handed out",
        tests=(LOCKED_STATE,),
    ),
    Mutant(
        name="release-of-an-altered-row",
        path="services/releases/locked_state.py",
        before='    require_authentic(session, "query", state.query_mac, row, query)\n',
        after="",
        wrong="a query whose number of releases was set back draws from where it was",
        tests=(LOCKED_STATE,),
    ),
    Mutant(
        name="release-read-without-room",
        path="services/releases/locked_state.py",
        before="    readable = or_(has_room, _GRANT.c.id.is_not(None))\n",
        after="    readable = true()\n",
        wrong="a refusal for want of room takes longer if others were given the level",
        tests=(f"{LOCKED_STATE}::test_without_room_nothing_is_read_that_others_were_given",),
        row="N5",
    ),
    Mutant(
        name="release-without-the-lock",
        path="services/releases/locked_state.py",
        before="    hold_query(session, required(allowed.query.id))\n",
        after="",
        wrong="two releases of one query are drawn from the same state",
        tests=(LOCKED_STATE,),
    ),
    Mutant(
        name="release-held-by-somebody-under-the-lock",
        path="services/releases/locked_state.py",
        before='_GRANT.c.user_id == bindparam("user_id"), _GRANT.c.release_id == AT)',
        after="_GRANT.c.release_id == AT)",
        wrong="what anybody was handed meanwhile counts as held by whoever waited for the lock",
        tests=(
            "tests/unit/services/releases/test_releases.py::test_two_readers_at_one_level_get_the_identical_vector_under_one_name",
        ),
    ),
    Mutant(
        name="release-of-another-edition",
        path="services/releases/allowed.py",
        before=EXPECTED,
        after="        return look.clearance == self.clearance\n",
        wrong="a level that was lowered is handed out by a worker that knew the old one",
        tests=(
            "tests/unit/services/releases/test_known_queries.py",
            "tests/api/served/under_load/test_changes.py",
        ),
    ),
    Mutant(
        name="release-of-an-older-clearance",
        path="services/releases/allowed.py",
        before=EXPECTED,
        after="        return look.edition == self.edition\n",
        wrong="a user who was demoted gets what the old clearance allowed",
        tests=(
            "tests/unit/services/releases/test_known_queries.py",
            "tests/api/served/under_load/test_changes.py",
        ),
    ),
    Mutant(
        name="edition-kept-beyond-its-change",
        path="services/kept.py",
        before="        return values.get(name) if kept == edition else None\n",
        after="        return values.get(name)\n",
        wrong="what was read before a change is used after it",
        tests=("tests/unit/services/test_kept.py",),
    ),
    Mutant(
        name="release-of-what-is-retired",
        path="services/releases/allowed.py",
        before='    if query.status != "active":\n',
        after='    if query.status == "pending":\n',
        wrong="a retired query gives new releases",
        tests=(
            "tests/unit/services/releases/test_releases.py::test_a_retired_query_gives_no_releases",
        ),
    ),
    Mutant(
        name="release-from-farthest-accurate",
        path="services/releases/locked_state.py",
        before="_nearest(_RUNG.desc(), rung > _RUNG)",
        after="_nearest(_RUNG, rung > _RUNG)",
        wrong="the anchor is taken for the nearest more accurate release",
        tests=(
            "tests/unit/services/releases/test_releases.py::test_every_draw_is_from_the_nearest_stored_neighbors",
        ),
    ),
    Mutant(
        name="release-from-farthest-noisy",
        path="services/releases/locked_state.py",
        before="_nearest(_RUNG, rung < _RUNG)",
        after="_nearest(_RUNG.desc(), rung < _RUNG)",
        wrong="the noisiest release is taken for the nearest noisier one",
        tests=(
            "tests/unit/services/releases/test_releases.py::test_every_draw_is_from_the_nearest_stored_neighbors",
        ),
    ),
    Mutant(
        name="release-neighbors-swapped",
        path="services/releases/releases.py",
        before="    accurate, noisy = state.accurate, state.noisy\n",
        after="    noisy, accurate = state.accurate, state.noisy\n",
        wrong="the two neighbors of a new level are taken for each other",
        tests=(
            "tests/unit/services/releases/test_releases.py::test_every_draw_is_from_the_nearest_stored_neighbors",
        ),
    ),
    Mutant(
        name="release-rows-missing",
        path="services/releases/releases.py",
        before="    if state.count != query.seq + 1:\n",
        after="    if state.count > query.seq + 1:\n",
        wrong="a level whose row was taken away is drawn a second time",
        tests=(
            "tests/unit/services/queries/test_registration.py::test_nothing_is_drawn_where_a_row_is_missing",
        ),
        row="V1",
    ),
    Mutant(
        name="release-one-level-too-many",
        path="services/releases/releases.py",
        before="    if others >= allowed.query.max_levels - len(allowed.known.given):\n",
        after="    if others > allowed.query.max_levels - len(allowed.known.given):\n",
        wrong="a query gives one level more than it was registered for",
        tests=(
            "tests/unit/services/releases/test_releases.py::test_the_number_of_levels_is_kept_and_tiers_always_have_room",
        ),
    ),
    Mutant(
        name="release-room-not-required",
        path="services/releases/releases.py",
        before="        _require_levels_left(allowed, room.others)\n",
        after="",
        wrong="where no level is left, the answer is that rows are missing",
        tests=(
            "tests/unit/services/releases/test_releases.py::test_where_no_level_is_left_those_of_others_look_like_any",
        ),
        row="N5",
    ),
    Mutant(
        name="quota-of-everybody",
        path="services/releases/quota.py",
        before='        col(Grant.user_id) == bindparam("user_id"),\n        col(Grant.at)',
        after='        col(Grant.user_id) != bindparam("user_id"),\n        col(Grant.at)',
        wrong="the allowance of a day counts what others were handed",
        tests=(
            "tests/unit/services/releases/test_quota.py::test_what_others_were_given_neither_costs_nor_shows",
        ),
    ),
    Mutant(
        name="quota-by-a-sum",
        path="services/releases/locked_state.py",
        before="        if counted.leaves_room(server) or not before.last:\n",
        after="        if True:\n",
        wrong="who has room is refused for what they were handed more than a day ago",
        tests=(
            "tests/unit/services/releases/test_quota.py::test_nobody_is_refused_for_what_is_a_day_old",
        ),
    ),
    Mutant(
        name="quota-bytes-forgotten",
        path="services/releases/quota.py",
        before="self.levels + levels, self.size + size)",
        after="self.levels + levels, size)",
        wrong="the bytes that a user was handed before are not counted with later ones",
        tests=(
            "tests/unit/services/releases/test_quota.py::test_a_worker_adds_later_hand_outs_to_what_it_counted",
        ),
    ),
    Mutant(
        name="release-held-by-somebody",
        path="services/releases/lookups.py",
        before='(_GRANT.c.user_id == bindparam("user_id")) & (_GRANT.c.release_id == AT)',
        after="_GRANT.c.release_id == AT",
        wrong="what anybody was handed counts as held, and leaves no leaf of its next reader",
        tests=(
            "tests/unit/services/releases/test_releases.py::test_two_readers_at_one_level_get_the_identical_vector_under_one_name",
        ),
    ),
    Mutant(
        name="history-values-of-others",
        path="services/releases/history.py",
        before="""\
    users = [required(principal.user_id)]
    rows = holdings(session, user_ids=users, public_id=public_id, streams=False, limit=1)
""",
        after="""\
    rows = holdings(session, public_id=public_id, streams=False, limit=1)
""",
        wrong="who knows the name of a release reads its values",
        tests=(
            "tests/unit/services/exposure/test_exposure.py::test_values_are_for_holders_and_for_nobody_else",
        ),
    ),
    Mutant(
        name="history-query-of-others",
        path="services/releases/history.py",
        before="holdings(session, user_ids=user_ids, query_id=required(query.id), limit=1)",
        after="holdings(session, query_id=required(query.id), limit=1)",
        wrong="a filter by a query tells whether anybody was handed it",
        tests=(
            "tests/unit/services/exposure/test_exposure.py::test_a_query_that_was_never_held_is_missing_from_an_analysts_history",
        ),
    ),
    Mutant(
        name="sight-above-tier",
        path="services/repository/queries.py",
        before=".where(col(Tier.rank) <= limit.rank, col(Tier.deleted_at).is_(None))",
        after=".where(col(Tier.deleted_at).is_(None))",
        wrong="a query that only higher tiers have is in everybody's sight",
        tests=(
            "tests/api/sight/test_hidden_and_missing.py::test_what_is_hidden_looks_like_what_does_not_exist",
        ),
    ),
    Mutant(
        name="level-lowered-without-effect",
        path="services/repository/levels.py",
        before="""\
    newest = {
        level.tier_id: level.rung
        for level, other in levels
        if other is not None and other.rank <= tier.rank and other.deleted_at is None
    }
    return min(newest.values(), default=None)
""",
        after="""\
    rungs = [
        level.rung
        for level, other in levels
        if other is not None and other.rank <= tier.rank and other.deleted_at is None
    ]
    return min(rungs, default=None)
""",
        wrong="a level that was taken back is handed out all the same",
        tests=(
            "tests/unit/services/queries/test_level_changes.py::test_a_lowered_level_refuses_what_it_allowed_and_keeps_what_was_given",
        ),
    ),
    Mutant(
        name="level-of-deleted-tier",
        path="services/repository/levels.py",
        before="other.rank <= tier.rank and other.deleted_at is None",
        after="other.rank <= tier.rank",
        wrong="the level of a tier that was deleted is still handed out to those above it",
        tests=(
            "tests/unit/services/repository/test_levels.py::test_the_level_of_a_deleted_tier_is_allowed_to_nobody_above_it",
        ),
    ),
    Mutant(
        name="deleted-tier-among-the-tiers",
        path="services/repository/people.py",
        before="select(Tier).where(col(Tier.deleted_at).is_(None)).order_by(col(Tier.rank))",
        after="select(Tier).order_by(col(Tier.rank))",
        wrong="a release is drawn at the level of a deleted tier",
        tests=(
            "tests/unit/services/people/test_tier_changes.py::test_a_deleted_tier_allows_nothing_to_those_above_it",
        ),
    ),
    Mutant(
        name="independent-level-not-paid-for",
        path="services/noise/independent_levels.py",
        before="        rungs = sorted(rung for rung in drawn if rung >= own and rung in paid)\n",
        after="        rungs = sorted(rung for rung in drawn if rung >= own)\n",
        wrong="an independent level that the tier does not pay for is handed out",
        tests=(
            "tests/unit/services/noise/test_independent_levels.py::test_noisier_levels_of_tiers_above_are_nobody_elses",
        ),
        row="V30",
    ),
    Mutant(
        name="stream-before-its-beginning",
        path="services/streams/stream_totals.py",
        before="    if start < beginning:\n",
        after="    if start < 0:\n",
        wrong="a tier that was inserted later asks for totals from before it",
        tests=(
            "tests/api/streams/test_levels.py::test_a_tier_inserted_between_two_has_totals_from_there_on",
        ),
    ),
    Mutant(
        name="stream-one-step-ahead",
        path="services/streams/stream_totals.py",
        before="    if end > step:\n",
        after="    if end > step + 1:\n",
        wrong="a range beyond the newest element is not refused as such",
        tests=("tests/api/streams/test_streams.py::test_ranges_that_are_not_there_are_refused",),
    ),
    Mutant(
        name="stream-ranges-of-others",
        path="services/streams/stream_totals.py",
        before="col(Leaf.user) == principal.name,\n            col(Leaf.query) == query.name,",
        after="col(Leaf.query) == query.name,",
        wrong="of a retired stream one may read what others were handed",
        tests=(
            "tests/api/streams/test_retired.py::test_what_was_given_is_given_again_and_no_more",
        ),
    ),
    Mutant(
        name="stream-range-grows",
        path="services/streams/stream_totals.py",
        before="""\
        and answer["first"] <= span[0]
        and answer["last"] >= span[-1]
""",
        after="""\
        and answer["first"] <= span[0]
""",
        wrong="of a retired stream one may read on behind what one was handed",
        tests=(
            "tests/api/streams/test_retired.py::test_what_was_given_is_given_again_and_no_more",
        ),
    ),
    Mutant(
        name="stream-state-too-old",
        path="services/streams/sealed_stream.py",
        before="    if (given or 0) != row.step:\n",
        after="    if (given or 0) < row.step:\n",
        wrong="a stream goes on from a state that is older than its outputs",
        tests=(
            "tests/unit/services/streams/test_sealed_stream.py::test_a_state_from_before_the_newest_outputs_is_found_out",
        ),
        row="V13",
    ),
    Mutant(
        name="histogram-state-without-its-number",
        path="services/noise/sealed_histogram.py",
        before="    row.seq, row.ciphertext = query.seq, sealed\n",
        after="    row.ciphertext = sealed\n",
        wrong="a sparse histogram does not know which release its state is after",
        tests=(
            "tests/unit/services/noise/kinds/test_sparse_histogram.py::test_levels_are_released_in_any_order_and_keep_the_noise_of_a_path",
        ),
    ),
)
