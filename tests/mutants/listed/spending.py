"""Provide faults of what is charged, and of what no budget allows."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        name="charges-of-one-act-not-summed",
        path="services/ledger/accounts.py",
        before="        sums[required(account.tier.id)] += new\n",
        after="        sums[required(account.tier.id)] = new\n",
        wrong="of several charges that one act makes to an account only the last has to fit",
        tests=("tests/unit/services/ledger/test_charges.py",),
    ),
    Mutant(
        name="charge-without-total",
        path="services/ledger/accounts.py",
        before='        "loss_total": account.spent.loss + new.loss,\n',
        after='        "loss_total": max(account.spent.loss, new.loss),\n',
        wrong="charges do not add up",
        tests=(
            "tests/unit/services/queries/test_registration.py::test_the_running_totals_are_the_sums_of_the_charges",
        ),
    ),
    Mutant(
        name="charge-same-account-twice",
        path="services/ledger/accounts.py",
        before="        current[key] = replace(account, spent=account.spent + new,"
        " entries=account.entries + 1)\n",
        after="        current[key] = replace(account, entries=account.entries + 1)\n",
        wrong="the second charge of one act to an account forgets the first",
        tests=("tests/unit/services/ledger/test_charges.py",),
    ),
    Mutant(
        name="floor-forgotten",
        path="services/ledger/accounts.py",
        before="        max(charged.loss, *(row.loss for row in floors), 0),\n",
        after="        charged.loss,\n",
        wrong="what was spent before a restore is given back",
        tests=(
            "tests/unit/services/audit/test_restores.py::test_the_budget_of_lost_queries_stays_spent",
            "tests/unit/services/audit/test_restores.py::test_whatever_the_witness_saw_spent_stays_spent",
        ),
    ),
    Mutant(
        name="budgets-may-shrink",
        path="services/ledger/accounts.py",
        before="            if current is not None and account.epsilon < current[1].epsilon:\n",
        after="            if current is not None and account.epsilon > current[1].epsilon:\n",
        wrong="budgets must not rise with rank, in place of must not shrink",
        tests=(
            "tests/unit/services/datasets/test_datasets.py::test_budgets_that_cannot_be_meant_are_refused",
        ),
    ),
    Mutant(
        name="registered-on-stale-accounts",
        path="services/queries/registration.py",
        before="""\
            fresh = accounts_of(session, dataset)
            require_same_accounts(accounts, fresh)
""",
        after="            fresh = accounts\n",
        wrong="two registrations at once spend the same rest of a budget",
        tests=(
            "tests/unit/services/releases/test_concurrency.py::test_registrations_never_overdraw_a_budget_together",
        ),
        row="V2",
    ),
    Mutant(
        name="anchor-beside-another-row",
        path="services/queries/anchors.py",
        before='            _QUERY.c.mac == bindparam("mac_before"),\n',
        after='            bindparam("mac_before").is_not(None),\n',
        wrong="a row that was signed again since it was charged is taken for the one before",
        tests=(
            "tests/unit/services/queries/test_registration.py::test_a_row_that_was_signed_again_since_the_charge_gets_its_anchor",
        ),
    ),
    Mutant(
        name="anchor-of-an-altered-row",
        path="services/queries/anchors.py",
        before='    require_authentic(session, "query", signed, values, query.name)\n',
        after="    del signed, values\n",
        wrong="a query whose row was altered since it was charged is drawn",
        tests=(
            "tests/unit/services/queries/test_registration.py::test_a_row_that_was_altered_since_the_charge_gets_no_anchor",
        ),
    ),
    Mutant(
        name="registered-by-former-admin",
        path="services/queries/registration.py",
        before='        require_still(session, principal, "admin")\n        query = pending',
        after="        query = pending",
        wrong="who lost the role while their registration was worked on registers all the same",
        tests=("tests/unit/services/people/test_roles_lost.py",),
    ),
    Mutant(
        name="registered-twice",
        path="services/queries/pending.py",
        before="        if twin is not None:\n",
        after="        if twin is not None and twin.name == request.name:\n",
        wrong="a statistic is registered under two names, and drawn twice",
        tests=(
            "tests/unit/services/datasets/test_datasets.py::test_one_statistic_under_two_names_is_refused_by_name",
        ),
    ),
    Mutant(
        name="charged-for-another-spec",
        path="services/queries/pending.py",
        before=" and taken.keys == keys_text(prepared):\n",
        after=":\n",
        wrong="an interrupted registration is finished with other keys than were charged",
        tests=("tests/unit/services/queries/test_pending.py",),
    ),
    Mutant(
        name="file-registered-twice",
        path="services/datasets/datasets.py",
        before="    refuse_twin(session, server, fingerprints)",
        after="    require_keys(server)",
        wrong="one file becomes two datasets, each with a budget of its own",
        tests=(
            "tests/unit/services/datasets/test_datasets.py::test_one_file_under_two_names_is_refused",
        ),
        row="D4",
    ),
    Mutant(
        name="charged-as-declared-before",
        path="services/queries/registration.py",
        before="            require_as_declared(current, dataset)\n",
        after="",
        wrong="a query is charged for a declaration that was corrected meanwhile",
        tests=(
            "tests/unit/services/datasets/test_corrections.py::test_a_registration_that_saw_another_declaration_charges_nothing",
        ),
        row="V41",
    ),
    Mutant(
        name="raised-as-declared-now",
        path="services/queries/level_changes.py",
        before="as_declared(session, session.get_one(Dataset, query.dataset_id), query)",
        after="session.get_one(Dataset, query.dataset_id)",
        wrong="a query is read again under another declaration than it was charged for",
        tests=(
            "tests/unit/services/datasets/test_corrections.py::test_a_query_keeps_the_declaration_that_it_was_registered_under",
        ),
        row="V41",
    ),
    Mutant(
        name="unit-corrected-after-charges",
        path="services/datasets/corrections.py",
        before="    others = list(_promises(before, after))\n",
        after="    others = list(_promises(before, before))\n",
        wrong="what charges are stated in is changed after them",
        tests=(
            "tests/unit/services/datasets/test_corrections.py::test_what_charges_are_stated_in_stays_once_there_are_any",
        ),
        row="V41",
    ),
    Mutant(
        name="deleted-tiers-pay-nothing",
        path="services/ledger/effective_levels.py",
        before="select(Tier).where(col(Tier.deleted_at).is_(None) | col(Tier.id).in_(_CLEARED))",
        after="select(Tier).where(col(Tier.deleted_at).is_(None))",
        wrong="what former holders of a deleted tier see in another one is not paid for",
        tests=(
            "tests/unit/services/people/test_tier_changes.py::test_who_held_a_deleted_tier_still_counts",
        ),
        row="A8",
    ),
    Mutant(
        name="tiers-pay-for-themselves-alone",
        path="services/ledger/effective_levels.py",
        before="        reached = levels.telling({*reached, *paid, *own})\n",
        after="        reached = levels.telling({*paid, *own})\n",
        wrong="a tier does not pay for what those below it were ever allowed",
        tests=(
            "tests/unit/services/test_budgets.py",
            "tests/unit/services/noise/test_independent_levels.py",
        ),
    ),
    Mutant(
        name="paid-again",
        path="services/ledger/effective_levels.py",
        before="                if rung not in paid:\n",
        after="                if rung not in paid or own:\n",
        wrong="a level that a tier has paid for is charged a second time",
        tests=(
            "tests/unit/services/queries/test_level_changes.py::test_raising_back_to_what_was_charged_costs_nothing",
        ),
        row="A8",
    ),
    Mutant(
        name="raised-without-room",
        path="services/ledger/effective_levels.py",
        before="    require_room(session, dataset_id, [(due.account, due.cost) for due in dues])\n",
        after="",
        wrong="a move of tiers raises levels beyond the budget",
        tests=(
            "tests/unit/services/people/test_tier_changes.py::test_a_move_that_overflows_an_account_is_refused_with_numbers",
        ),
    ),
    Mutant(
        name="ceiling-not-kept",
        path="services/queries/level_changes.py",
        before="            current.ceiling = min(current.ceiling, rung)\n",
        after="",
        wrong="a query whose anchor was raised does not know its new ceiling",
        tests=("tests/unit/services/queries/test_level_changes.py",),
    ),
    Mutant(
        name="raised-on-other-data",
        path="services/queries/level_changes.py",
        before="    exact = answer()\n    require_same(server, dataset, query, exact)\n",
        after="    exact = answer()\n",
        wrong="an anchor is raised by other exact values than it was drawn from",
        tests=(
            "tests/unit/services/datasets/test_datasets.py::test_an_answer_other_than_the_one_registered_raises_no_ceiling",
        ),
        row="V9",
    ),
    Mutant(
        name="budget-below-what-is-spent",
        path="services/budgets.py",
        before="        current.spent.loss > limit.loss or current.spent.failure > limit.failure\n",
        after="        current.spent.loss > limit.loss and current.spent.failure > limit.failure\n",
        wrong="a budget is lowered below what is spent",
        tests=(
            "tests/unit/services/test_budgets.py::test_budgets_are_raised_and_lowered_but_not_below_what_is_spent",
        ),
    ),
    Mutant(
        name="inherited-without-order",
        path="services/ledger/tier_budgets.py",
        before="tier, taken.account, at, lost)\n",
        after="tier, account_of(taken.account.epsilon, taken.account.delta), at, lost)\n",
        wrong="charges of one order are added up in an account of another",
        tests=("tests/unit/services/ledger/test_tier_budgets.py",),
    ),
    Mutant(
        name="raised-without-repricing",
        path="services/budgets.py",
        before="    reprice(session, dataset, [*(tier for tier, _ in accounts), *given], now)\n",
        after="    reprice(session, dataset, given, now)\n",
        wrong="samplers stay charged at the budget of their registration",
        tests=("tests/unit/services/ledger/test_repricing.py",),
    ),
    Mutant(
        name="priced-at-a-lowered-budget",
        path="accounting/charging/budget.py",
        before="        return self.epsilon if self.highest is None else self.highest\n",
        after="        return self.epsilon\n",
        wrong="what is registered after a budget was lowered is charged at the lower one",
        tests=("tests/unit/services/ledger/test_repricing.py",),
    ),
    Mutant(
        name="repriced-upward-alone",
        path="services/ledger/repricing.py",
        before="        if cost.loss or cost.failure:\n",
        after="        if cost.loss >= 0 and cost.failure > 0:\n",
        wrong="another way of charging that is cheaper under a larger budget is not taken",
        tests=("tests/unit/services/ledger/test_repricing.py",),
    ),
    Mutant(
        name="lost-charges-stay-cheap",
        path="services/ledger/tier_budgets.py",
        before="    if lost <= 0:\n",
        after="    if lost >= 0:\n",
        wrong="what was lost with a database is not dearer under a larger budget",
        tests=("tests/unit/services/audit/restoring/test_restored_budgets.py",),
    ),
    Mutant(
        name="exposure-of-oneself-and-others",
        path="services/exposure/exposure.py",
        before="    if [folded(name) for name in names] != [folded(principal.name)]:\n",
        after="    if folded(principal.name) not in [folded(name) for name in names]:\n",
        wrong="who names themselves with others learns what those know",
        tests=(
            "tests/unit/services/exposure/test_exposure.py::test_analysts_ask_about_themselves_alone",
        ),
    ),
    Mutant(
        name="exposure-counts-every-hand-out",
        path="services/exposure/exposure.py",
        before="lines(lambda group: dict.fromkeys(group.best, 1), paid=True)",
        after="lines(lambda group: group.rungs, paid=True)",
        wrong="what a coalition knows is composed as if every hand-out were independent",
        tests=(
            "tests/unit/services/exposure/test_exposure.py::test_a_coalition_learns_what_its_best_informed_member_knows",
        ),
        row="V3",
    ),
    Mutant(
        name="exposure-of-the-lowest-tier",
        path="services/exposure/exposure.py",
        before="    return max((tier for _, tier in rows), key=place, default=None)\n",
        after="    return min((tier for _, tier in rows), key=place, default=None)\n",
        wrong="the bound of a coalition is that of its lowest tier",
        tests=(
            "tests/unit/services/exposure/test_exposure.py::test_reach_and_what_could_be_remember_the_highest_tier_ever_held",
        ),
    ),
)
