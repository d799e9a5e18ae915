"""Provide faults that break claims of accounting (A)."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

SQUARES: Final = "tests/unit/accounting/charging/test_gaussian_budget.py"

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        row="A1",
        name="conversion-without-slack",
        path="accounting/charging/budget.py",
        before="    return epsilon + gain - _SLACK * (epsilon + abs(gain) + math.log(1 /"
        " delta) / (order - 1))\n",
        after="    return epsilon + gain\n",
        wrong="a budget is rounded to nearest in place of down",
        tests=(
            "tests/unit/accounting/charging/test_budget.py::test_a_budget_is_rounded_down_and_an_epsilon_up",
        ),
    ),
    Mutant(
        row="A1",
        name="converted-without-slack",
        path="accounting/charging/budget.py",
        before="    return max(0.0, loss - gain + slack)\n",
        after="    return max(0.0, loss - gain - slack)\n",
        wrong="an epsilon is rounded down",
        tests=(
            "tests/unit/accounting/charging/test_budget.py::test_a_budget_is_rounded_down_and_an_epsilon_up",
        ),
    ),
    Mutant(
        row="A2",
        name="order-chosen-anew",
        path="accounting/charging/budget.py",
        before="    chosen = best_order(budget) if order is None else order\n",
        after="    chosen = best_order(budget)\n",
        wrong="an account has the best order of its newest budget and not of its first",
        tests=(
            "tests/unit/accounting/charging/test_budget.py::test_a_raised_budget_keeps_its_first_order",
        ),
    ),
    Mutant(
        row="A2",
        name="order-chosen-anew-by-a-raise",
        path="services/budgets.py",
        before="        account = account_of(epsilon, dataset.delta, last.order, highest)\n",
        after="        account = account_of(epsilon, dataset.delta, None, highest)\n",
        wrong="raising a budget chooses the order of the account again",
        tests=(
            "tests/unit/services/test_budgets.py::test_budgets_are_raised_and_lowered_but_not_below_what_is_spent",
        ),
    ),
    Mutant(
        row="A3",
        name="failure-limit-rounded-up",
        path="accounting/charging/ledger.py",
        before="        math.floor(Fraction(account.failure_limit) * FAILURE_UNITS),\n",
        after="        math.ceil(Fraction(account.failure_limit) * FAILURE_UNITS),\n",
        wrong="the part of delta that is granted is rounded up",
        tests=("tests/unit/accounting/charging/test_ledger.py::test_limits_are_rounded_down",),
    ),
    Mutant(
        row="A4",
        name="samplers-at-their-own-epsilon",
        path="accounting/charging/charges.py",
        before="        ladder, dimension, level_count, account.order, min(account.epsilon,"
        " LARGEST_EXPONENT)\n"
        "    )\n",
        after="        ladder, dimension, level_count, account.order,\n"
        "        min(mechanism.guarantee(level, sensitivity, account.delta or"
        " 0.5).epsilon, account.epsilon),\n"
        "    )\n",
        wrong="a sampler's error is charged at the epsilon of the one release",
        tests=(
            "tests/unit/accounting/charging/test_charges.py::test_a_sampler_is_charged_at_the_epsilon_of_the_whole_account",
        ),
    ),
    Mutant(
        row="A5",
        name="share-of-the-loss-alone",
        path="accounting/calibration/levels.py",
        before="    if made.failure > allowed.failure:\n        return math.inf\n",
        after="",
        wrong="a share does not bound what the sampler is charged",
        tests=(
            "tests/unit/accounting/calibration/test_levels.py::test_the_whole_charge_of_a_share_is_within_it",
        ),
    ),
    Mutant(
        row="A5",
        name="level-one-rung-too-accurate",
        path="accounting/calibration/levels.py",
        before='ask for a level up to that."\n        )\n    return rung\n',
        after='ask for a level up to that."\n        )\n    return max(rung - 1, 0)\n',
        wrong="a level for a target misses it by a rung",
        tests=(
            "tests/unit/accounting/calibration/test_levels.py::test_a_level_keeps_its_target_and_the_next_finer_rung_does_not",
        ),
    ),
    Mutant(
        row="A6",
        name="copies-of-a-gaussian-not-counted",
        path="accounting/reporting/report.py",
        before="            copies * float(release.sensitivity.l2_squared / release.level)\n"
        "            for release, copies in gaussian.items()\n",
        after="            float(release.sensitivity.l2_squared / release.level)\n"
        "            for release in gaussian\n",
        wrong="of Gaussian releases that are alike one is composed",
        tests=(
            "tests/unit/accounting/reporting/test_report.py::test_gaussian_releases_add_up_in_squares",
        ),
    ),
    Mutant(
        row="A6",
        name="failures-kept-in-delta",
        path="services/exposure/compositions.py",
        before="    epsilon = by(frozenset(releases.items()), delta - failure)\n",
        after="    epsilon = by(frozenset(releases.items()), delta)\n",
        wrong="the failures that were charged are not taken off the delta that is composed at",
        tests=(
            "tests/unit/services/exposure/test_exposure.py::test_failures_that_were_charged_are_taken_out_of_delta_first",
        ),
    ),
    Mutant(
        row="A7",
        name="plain-difference-of-a-raise",
        path="accounting/charging/raising.py",
        before="        whole = Cost(refinement_loss(before, after, order), 0.0)\n",
        after="        plain = mechanism.cost(new, sensitivity, order).loss -"
        " mechanism.cost(old, sensitivity, order).loss\n"
        "        whole = Cost(max(plain, 0.0), 0.0)\n",
        wrong="a raise of Laplace noise is charged the plain difference of both costs",
        tests=(
            "tests/unit/accounting/charging/test_raising.py::test_no_choice_after_a_raise_takes_a_laplace_query_beyond_its_charge",
        ),
    ),
    Mutant(
        row="A7",
        name="refinement-at-its-new-epsilon",
        path="accounting/charging/raising.py",
        before="        whole = Cost(refinement_loss(before, after, order), 0.0)\n",
        after="        whole = Cost(max(after - before, 0.0), 0.0)\n",
        wrong="a raise of Laplace noise is charged up to the new epsilon in all",
        tests=(
            "tests/unit/accounting/charging/test_raising.py::test_no_choice_after_a_raise_takes_a_laplace_query_beyond_its_charge",
        ),
    ),
    Mutant(
        row="A7",
        name="coordinates-in-half-their-range",
        path="accounting/charging/raising.py",
        before="sensitivity.l2_squared / (2 * new * new))\n",
        after="sensitivity.l2_squared / (4 * new * new))\n",
        wrong="a raise of a long Laplace vector is charged half of what its coordinates lose",
        tests=(
            "tests/unit/accounting/charging/test_raising.py::test_raising_a_long_laplace_vector_is_charged_coordinate_by_coordinate",
        ),
    ),
    Mutant(
        row="A7",
        name="end-of-a-refinement-for-nothing",
        path="mechanisms/poisson/process.py",
        before="        return Cost(loss=loss, failure=min(tail + outside, 1.0))\n",
        after="        return Cost(loss=loss, failure=min(tail, 1.0))\n",
        wrong="where a Poisson refinement leaves its support is not charged",
        tests=(
            "tests/unit/accounting/charging/test_raising.py::test_a_refinement_is_charged_where_it_leaves_its_support",
        ),
    ),
    Mutant(
        row="A9",
        name="theorem-beyond-its-condition",
        path="mechanisms/poisson/curve.py",
        before="    if mean < least:\n",
        after="    if mean < least / 2:\n",
        wrong="the theorem of Poisson noise is read where it does not hold",
        tests=(
            "tests/unit/mechanisms/poisson/test_curve.py::test_the_closed_form_says_which_mean_it_needs",
        ),
    ),
    Mutant(
        row="A9",
        name="laplace-theorem-by-l2-alone",
        path="mechanisms/laplace/laplace_readings.py",
        before="    return min(l1 / scale * (1 + _ROUNDING), l2_epsilon(l2, scale, delta))\n",
        after="    return min(l2 / scale * (1 + _ROUNDING), l2_epsilon(l2, scale, delta))\n",
        wrong="Laplace noise is read as if its pure epsilon went by l2",
        tests=(
            "tests/unit/mechanisms/laplace/test_laplace_readings.py::test_theorem_1_3_has_its_known_values",
        ),
    ),
    Mutant(
        row="A11",
        name="bars-of-the-real-law",
        path="mechanisms/laplace/process.py",
        before="half_width_steps(step, confidence) * unit)",
        after="(half_width_steps(step, confidence) - 1) * unit)",
        wrong="error bars are a lattice step too narrow",
        tests=(
            "tests/unit/mechanisms/test_error_bars.py::test_error_bars_cover_their_confidence_and_hardly_more",
        ),
    ),
    Mutant(
        row="A11",
        name="gaussian-bars-rounded-down",
        path="mechanisms/gaussian/process.py",
        before="math.ceil(reach / step - 0.5) * step)",
        after="math.floor(reach / step - 0.5) * step)",
        wrong="the bars of Gaussian noise end a lattice step too early",
        tests=(
            "tests/unit/mechanisms/test_error_bars.py::test_error_bars_cover_their_confidence_and_hardly_more",
        ),
    ),
    Mutant(
        row="A12",
        name="budget-raised-without-repricing",
        path="services/budgets.py",
        before="    reprice(session, dataset, [*(tier for tier, _ in accounts), *given], now)\n",
        after="",
        wrong="raising a budget charges nothing for what samplers cost under it",
        tests=(
            "tests/unit/services/ledger/test_repricing.py::test_a_raised_budget_charges_what_false_keys_cost_under_it",
        ),
    ),
    Mutant(
        row="A12",
        name="priced-under-the-budget-of-now",
        path="accounting/charging/budget.py",
        before="        return account_of(self.promised, self.delta, self.order) if"
        " self.highest else self\n",
        after="        return self\n",
        wrong="a lowered budget makes queries cheaper than what it once promised",
        tests=(
            "tests/unit/services/ledger/test_repricing.py::test_a_lowered_budget_leaves_every_price_what_it_was",
        ),
    ),
    Mutant(
        row="A20",
        name="other-noise-at-delta-0",
        path="accounting/charging/charges.py",
        before="    if delta == 0 and name not in PURE_MECHANISMS:\n",
        after="    if delta < 0 and name not in PURE_MECHANISMS:\n",
        wrong="a dataset with delta 0 admits any noise",
        tests=(
            "tests/unit/services/releases/test_pure_datasets.py::test_other_mechanisms_are_refused_by_name",
        ),
    ),
    Mutant(
        row="A20",
        name="pure-raise-in-full",
        path="accounting/charging/raising.py",
        before="    if mechanism.name in INDEPENDENT or math.isinf(account.order):\n",
        after="    if mechanism.name in INDEPENDENT:\n",
        wrong="a raise at infinite order is charged more than the difference",
        tests=(
            "tests/unit/services/releases/test_pure_datasets.py::test_a_raise_costs_the_difference_also_when_others_came_between",
        ),
    ),
    Mutant(
        row="A30",
        name="independent-levels-like-lossless-ones",
        path="services/noise/independent_levels.py",
        before="        return sorted(set(rungs))\n",
        after="        return sorted(set(rungs))[:1]\n",
        wrong="of independent levels the most accurate alone is paid for and composed",
        tests=(
            "tests/unit/services/noise/test_independent_levels.py::test_a_tier_pays_for_every_level_at_or_below_it",
        ),
    ),
    Mutant(
        row="A30",
        name="share-of-each-level",
        path="services/noise/independent_levels.py",
        before="                spent[place:] = [\n"
        "                    before + process.price(last, account, dimension, level_count)\n",
        after="                spent[place:] = [\n"
        "                    process.price(last, account, dimension, level_count)\n",
        wrong="a share bounds each level of a tier and not their sum",
        tests=(
            "tests/unit/services/noise/test_independent_levels.py::test_a_share_holds_for_the_whole_charge_of_each_tier",
        ),
    ),
    Mutant(
        row="A13",
        name="squared-mu-of-its-own-variance",
        path="accounting/charging/gaussian_budget.py",
        before="    return variance - smoothing\n",
        after="    return variance\n",
        wrong="a release is charged the mu of a real one of its own variance",
        tests=(f"{SQUARES}::test_a_charge_is_that_of_the_real_release_and_of_every_draw",),
    ),
    Mutant(
        row="A13",
        name="theta-of-half-a-turn",
        path="accounting/charging/gaussian_budget.py",
        before="math.exp(-2 * math.pi**2 * steps**2)",
        after="math.exp(-4 * math.pi**2 * steps**2)",
        wrong="normalizers are taken to be closer to the real ones than they are",
        tests=(
            f"{SQUARES}::test_a_normalizer_is_within_theta_of_the_real_one_around_any_center",
            f"{SQUARES}::test_no_discrete_gaussian_loses_more_than_the_real_one_behind_it",
        ),
    ),
    Mutant(
        row="A13",
        name="squared-mu-at-all-of-delta",
        path="accounting/charging/budget.py",
        before="        mu = mu_at(epsilon, for_conversion)\n",
        after="        mu = mu_at(epsilon, delta)\n",
        wrong="the conversion gets all of delta, and failures come on top",
        tests=(f"{SQUARES}::test_an_account_grants_the_largest_square_that_implies_its_budget",),
    ),
    Mutant(
        row="A13",
        name="sampler-of-squared-mu-uncharged",
        path="accounting/charging/gaussian_budget.py",
        before="    failure = beyond + way.failure + (1",
        after="    failure = beyond + (1",
        wrong="the sampler's error is not charged",
        tests=(f"{SQUARES}::test_a_charge_is_that_of_the_real_release_and_of_every_draw",),
    ),
    Mutant(
        row="A13",
        name="refinement-of-squared-mu-unshifted",
        path="accounting/charging/gaussian_budget.py",
        before="revealed**2 / _smoothed(gaussian, new * revealed)\n",
        after="revealed**2 / _smoothed(gaussian, new)\n",
        wrong="a refinement is charged as if it had the noise of a release by itself",
        tests=(f"{SQUARES}::test_a_refinement_costs_the_difference_and_the_lattices_part_of_it",),
    ),
    Mutant(
        row="A13",
        name="laplace-by-squared-mu",
        path="accounting/charging/gaussian_budget.py",
        before="    if family is not Gaussian:\n",
        after="    if False:\n",
        wrong="other noise is charged by its variance",
        tests=(f"{SQUARES}::test_what_is_not_proved_is_refused_by_name",),
    ),
    Mutant(
        row="A13",
        name="histograms-by-squared-mu",
        path="accounting/charging/gaussian_budget.py",
        before="    if family is not Gaussian:\n",
        after="    if not issubclass(family, Gaussian):\n",
        wrong="a sparse histogram is charged the mu of its ideal law",
        tests=(
            "tests/unit/services/ledger/test_accounts.py::test_streams_and_sparse_histograms_are_refused",
        ),
    ),
    Mutant(
        row="A13",
        name="streams-by-squared-mu",
        path="services/computations/stream_quotes.py",
        before="    if any(account is not None and account.account.squares for",
        after="    if any(account is None and account.account.squares for",
        wrong="a stream is charged as a query",
        tests=(
            "tests/unit/services/ledger/test_accounts.py::test_streams_and_sparse_histograms_are_refused",
        ),
    ),
    Mutant(
        row="A13",
        name="squared-mu-under-the-budget-of-now",
        path="accounting/charging/gaussian_budget.py",
        before="    epsilon = min(account.promised, LARGEST_EXPONENT)\n",
        after="    epsilon = min(1.0, LARGEST_EXPONENT)\n",
        wrong="the errors of samplers cost nothing more under a larger budget",
        tests=(
            "tests/unit/services/ledger/test_accounts.py::test_a_budget_under_which_samplers_cost_too_much_is_refused",
        ),
    ),
)
