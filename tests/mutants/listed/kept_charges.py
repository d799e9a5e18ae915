"""Provide faults of what stays spent.

After a query is retired, a tier is deleted or a database is lost.
"""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        row="V41",
        name="correction-unlocked",
        path="services/datasets/corrections.py",
        before="""\
        require_as_declared(lock_dataset(session, required(dataset.id)), seen)
        if""",
        after="        if",
        wrong="of two corrections at once the later one undoes the first",
        tests=(
            "tests/unit/services/releases/test_concurrency.py::test_a_correction_beside_another_one_does_not_undo_it",
        ),
    ),
    Mutant(
        row="V34",
        name="compared-though-drawn-meanwhile",
        path="services/queries/level_changes.py",
        before="""\
            require_drawn_from(current, bool(missing))
            require_chargeable""",
        after="            require_chargeable",
        wrong="a raise beside another one compares values where nothing is drawn any more",
        tests=(
            "tests/unit/services/queries/test_mismatches.py::test_values_are_not_compared_where_another_raise_was_quicker",
        ),
    ),
    Mutant(
        row="A12",
        name="retired-not-priced-anew",
        path="services/ledger/repricing.py",
        before="""\
    of_dataset = select(Query).where(col(Query.dataset_id) == dataset.id)
    return""",
        after="""\
    active = col(Query.status) == 'active'
    of_dataset = select(Query).where(col(Query.dataset_id) == dataset.id, active)
    return""",
        wrong="retired queries are not repriced",
        tests=(
            "tests/unit/services/ledger/test_repricing.py::test_a_retired_query_is_priced_anew_too",
        ),
    ),
    Mutant(
        row="A12",
        name="streams-not-priced-anew",
        path="services/ledger/repricing.py",
        before="""\
    of_dataset = select(Query).where(col(Query.dataset_id) == dataset.id)
    return""",
        after="""\
    vectors = col(Query.structure).is_(None)
    of_dataset = select(Query).where(col(Query.dataset_id) == dataset.id, vectors)
    return""",
        wrong="streams are not repriced",
        tests=("tests/unit/services/ledger/test_repricing.py::test_a_stream_is_priced_anew_too",),
    ),
    Mutant(
        row="A12",
        name="lifted-not-priced-anew",
        path="services/ledger/tier_budgets.py",
        before="""\
                own = _lift(session, principal, dataset, tier, own, lower, at)
                given.append(tier)""",
        after="""\
                own = _lift(session, principal, dataset, tier, own, lower, at)""",
        wrong="a lifted (deleted) tier's queries are not repriced",
        tests=(
            "tests/unit/services/ledger/test_repricing.py::test_a_deleted_tier_pays_what_its_queries_cost_under_the_budget_that_it_is_lifted_to",
        ),
    ),
    Mutant(
        row="A12",
        name="lost-charges-not-taken-over",
        path="services/ledger/tier_budgets.py",
        before="""\
    lost = floors_of(session, required(dataset.id), source)
""",
        after="""\
    lost: list[Entry] = []
""",
        wrong="what was lost with a database is not taken over",
        tests=(
            "tests/unit/services/audit/restoring/test_restored_budgets.py::test_a_tier_that_takes_over_an_account_takes_over_what_was_lost",
        ),
    ),
    Mutant(
        row="A6",
        name="failures-of-one-version",
        path="services/exposure/compositions.py",
        before="    failure = sum(account.spent.cost.failure",
        after="    failure = max(account.spent.cost.failure",
        wrong="failures of one version alone are taken off the sum of deltas",
        tests=(
            "tests/unit/services/exposure/test_compositions.py::test_the_failures_of_all_versions_are_taken_out_of_the_sum_of_deltas",
        ),
    ),
    Mutant(
        row="A6",
        name="bound-at-all-of-delta",
        path="services/exposure/compositions.py",
        before="                line.version.delta - line.account.account.failure_limit,",
        after="                line.version.delta,",
        wrong="filter's bound read at all of delta",
        tests=(
            "tests/unit/services/exposure/test_compositions.py::test_a_full_account_shows_no_less_than_its_whole_budget",
        ),
    ),
    Mutant(
        row="V41",
        name="earlier-charges-hold-nothing",
        path="services/datasets/corrections.py",
        before="""\
    if any(charged(session, version) for version in versions_of(session, dataset)):
        raise Conflict(
            f"Queries were charged in dataset {dataset.name!r}, and""",
        after="""\
    if charged(session, dataset):
        raise Conflict(
            f"Queries were charged in dataset {dataset.name!r}, and""",
        wrong="charges of earlier versions do not hold the promise",
        tests=(
            "tests/unit/services/datasets/test_corrections.py::test_charges_of_an_earlier_version_hold_the_unit_of_a_later_one",
        ),
    ),
    Mutant(
        row="V41",
        name="lost-charges-hold-nothing",
        path="services/datasets/declarations.py",
        before="""\
            select(SpentFloor).where(col(SpentFloor.dataset_id) == key),
""",
        after="",
        wrong="what a restore lost does not hold a declaration",
        tests=(
            "tests/unit/services/audit/restoring/test_restored_budgets.py::test_what_was_lost_holds_a_declaration_as_charges_do",
        ),
    ),
)
