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
