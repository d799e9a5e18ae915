"""Provide faults of schedules and of their occurrences."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        name="schedule-above-its-total",
        row="V75",
        path="services/schedules/occurrences.py",
        before="exceeds(opened + 1, budget.epsilon, most)",
        after="exceeds(opened, budget.epsilon, most)",
        wrong="a schedule opens a version more than its total allows",
        tests=(
            "tests/unit/services/schedules/test_occurrences.py::test_what_the_budget_does_not_allow_is_refused_as_a_whole_and_switches_off",
        ),
    ),
    Mutant(
        name="total-seen-before-others",
        path="services/schedules/occurrences.py",
        before="        _require_total(due, requests, opened_by(session, row.schedule_id))\n",
        after="",
        wrong="two occurrences at once open a version more than the schedule's total allows",
        tests=(
            "tests/unit/services/schedules/test_occurrences.py::test_occurrences_at_once_open_no_more_versions_than_the_total",
        ),
        row="V75",
    ),
    Mutant(
        name="schedule-of-a-former-admin",
        row="V75",
        path="services/schedules/occurrences.py",
        before='frozenset(roles_of(user)) & {"admin"} if user.is_active else frozenset()\n',
        after='frozenset({"admin"})\n',
        wrong="a schedule registers for somebody who is no admin any more",
        tests=(
            "tests/unit/services/schedules/test_occurrences.py::test_whoever_is_no_admin_any_more_registers_nothing",
        ),
    ),
    Mutant(
        name="occurrence-registered-in-part",
        row="V75",
        path="services/schedules/occurrences.py",
        before="    priced(server, principal, declared, requests)\n",
        after="",
        wrong="a version is opened for queries that do not fit its budget",
        tests=(
            "tests/unit/services/schedules/test_occurrences.py::test_a_query_that_does_not_fit_leaves_no_version_behind",
        ),
    ),
    Mutant(
        name="version-of-a-stopped-occurrence-uncounted",
        row="V75",
        path="services/schedules/occurrences.py",
        before="        row.version = version\n        session.add(row)\n",
        after="",
        wrong="a version whose occurrence was stopped and then refused is not in the total",
        tests=(
            "tests/unit/services/schedules/test_occurrences.py::test_a_version_counts_though_its_occurrence_was_stopped_and_then_refused",
        ),
    ),
    Mutant(
        name="version-of-others-charged",
        row="V75",
        path="services/queries/registration.py",
        before="    if version is not None and dataset.version != version:\n",
        after="    if version is not None and dataset.version < version:\n",
        wrong="a schedule's queries are charged to a version that somebody else opened",
        tests=(
            "tests/unit/services/schedules/test_occurrences.py::test_an_occurrence_charges_no_version_that_somebody_else_opened",
        ),
    ),
    Mutant(
        name="version-of-an-occurrence-opened-twice",
        row="V75",
        path="services/schedules/occurrences.py",
        before='        if row.state != "pending" or row.version is not None:\n',
        after='        if row.state != "pending":\n',
        wrong="two processes open two versions of one view for one occurrence",
        tests=(
            "tests/unit/services/schedules/refills/test_refills.py::test_two_processes_open_one_version_of_a_view",
        ),
    ),
    Mutant(
        name="night-that-was-not-refilled-charged",
        row="V75",
        path="services/schedules/occurrences.py",
        before="    refilled = is_unrecognized(due.spec, declared)\n",
        after="    refilled = not due.spec.is_dated\n",
        wrong="a file that was not refilled is registered and charged again every night",
        tests=(
            "tests/unit/services/schedules/refills/test_refills.py::test_a_file_that_is_refilled_is_registered_and_another_night_says_it_was_not",
        ),
    ),
    Mutant(
        name="own-version-taken-for-an-earlier-one",
        row="V75",
        path="services/schedules/occurrences.py",
        before="        if row.version is not None and not opened:\n",
        after="        if row.version is None and not opened and state is None:\n",
        wrong="an occurrence is skipped though its version is open, since the data are that one's",
        tests=(
            "tests/unit/services/schedules/refills/test_refills.py::test_a_process_that_comes_second_does_not_take_the_version_for_an_earlier_one",
        ),
    ),
    Mutant(
        name="people-of-a-view-counted-once",
        row="V75",
        path="services/schedules/refills.py",
        before="    if not is_unrecognized(spec, declared):\n",
        after="    if not spec.is_dated:\n",
        wrong="people who are in a view every night count as other people, or once in a stream",
        tests=(
            "tests/unit/services/schedules/refills/test_refills.py::test_a_view_of_one_name_is_not_taken_for_other_people_every_night",
        ),
    ),
    Mutant(
        name="element-of-more-than-was-charged",
        row="V77",
        path="services/streams/fed_elements.py",
        before="    _require_fitting(stream, prepared)\n",
        after="",
        wrong="an element moves further with one unit than the stream was charged for",
        tests=(
            "tests/unit/services/streams/test_fed_elements.py::test_a_query_that_the_stream_was_not_opened_for_is_refused",
        ),
    ),
    Mutant(
        name="element-of-people-who-do-not-count",
        row="V77",
        path="services/streams/fed_elements.py",
        before="    if not mine or not all(any(each.id == opened.id for each in chain) for",
        after="    if not mine or not any(any(each.id == opened.id for each in chain) for",
        wrong="a stream is fed with people for whom its charges are not counted",
        tests=(
            "tests/unit/services/streams/test_fed_elements.py::test_people_whom_the_stream_is_not_charged_for_do_not_feed_it",
        ),
    ),
    Mutant(
        name="element-refused-for-its-size",
        row="V77",
        path="services/streams/fed_elements.py",
        before="(np.clip(answer, -largest, largest) *",
        after="(answer *",
        wrong="an element is larger than its stream's bound",
        tests=(
            "tests/unit/services/streams/test_fed_elements.py::test_an_element_saturates_at_the_streams_bound",
        ),
    ),
    Mutant(
        name="version-that-fed-a-stream-withdrawn",
        row="V77",
        path="services/datasets/declarations.py",
        before="            select(FedElement).where(col(FedElement.dataset_id) == key),\n",
        after="",
        wrong="the same people feed a stream twice, by a version that is withdrawn in between",
        tests=(
            "tests/unit/services/streams/test_fed_elements.py::test_a_version_that_fed_a_stream_is_not_withdrawn",
        ),
    ),
    Mutant(
        name="elements-not-compared-with-the-log",
        row="V77",
        path="services/schedules/logged_schedules.py",
        before="        if _fed(session) != self._fed:\n",
        after="        if len(_fed(session)) > len(self._fed):\n",
        wrong="an element that is gone from its list is not missed",
        tests=(
            "tests/unit/services/schedules/test_feeds.py::test_an_audit_finds_elements_that_are_not_those_of_the_log",
        ),
    ),
    Mutant(
        name="schedules-on-after-a-restore",
        row="V75",
        path="services/audit/restores.py",
        before="    _stop_schedules(session, principal, now)\n",
        after="",
        wrong="after a restore an occurrence that is lost is drawn again by itself",
        tests=(
            "tests/unit/services/schedules/test_outages.py::test_after_a_restore_nothing_is_carried_out_again_by_itself",
        ),
    ),
    Mutant(
        name="occurrences-not-held-to-the-log",
        row="V75",
        path="services/schedules/logged_schedules.py",
        before="        elif others or schedules != self._schedules:\n",
        after="        elif others:\n",
        wrong="an occurrence that was removed, or put back as it was, is not missed",
        tests=(
            "tests/unit/services/schedules/test_logged_schedules.py::test_an_occurrence_that_is_gone_is_missed",
        ),
    ),
)
