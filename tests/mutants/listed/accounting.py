"""Provide faults of sums, conversions, and of what a release costs."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

LEDGER: Final = "tests/unit/accounting/charging/test_ledger.py"
LOSSES: Final = "tests/unit/accounting/reporting/test_losses.py"
REPORT: Final = "tests/unit/accounting/reporting/test_report.py"

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        name="cost-rounded-down",
        path="accounting/charging/ledger.py",
        before="        loss = min(math.ceil(Fraction(cost.loss) * LOSS_UNITS), LARGEST_LOSS)\n",
        after="        loss = min(math.floor(Fraction(cost.loss) * LOSS_UNITS), LARGEST_LOSS)\n",
        wrong="what is spent is rounded down",
        tests=(
            "tests/property/test_ledger_sums.py::test_a_sum_is_never_under_the_real_one_and_hardly_over",
        ),
        row="A3",
    ),
    Mutant(
        name="failure-rounded-down",
        path="accounting/charging/ledger.py",
        before="return Entry(loss, math.ceil(Fraction(min(cost.failure, 1.0)) * FAILURE_UNITS))",
        after="return Entry(loss, math.floor(Fraction(min(cost.failure, 1.0)) * FAILURE_UNITS))",
        wrong="failure probabilities are rounded down",
        tests=(
            "tests/property/test_ledger_sums.py::test_a_sum_is_never_under_the_real_one_and_hardly_over",
        ),
        row="A3",
    ),
    Mutant(
        name="limit-rounded-up",
        path="accounting/charging/ledger.py",
        before="        math.floor(Fraction(account.limit) * LOSS_UNITS),\n",
        after="        math.ceil(Fraction(account.limit) * LOSS_UNITS),\n",
        wrong="what is granted is rounded up",
        tests=("tests/unit/accounting/charging/test_ledger.py::test_limits_are_rounded_down",),
        row="A3",
    ),
    Mutant(
        name="failures-without-limit",
        path="accounting/charging/ledger.py",
        before="    if new.loss <= left.loss and new.failure <= left.failure:\n",
        after="    if new.loss <= left.loss:\n",
        wrong="failure probabilities may be spent beyond their part of delta",
        tests=(
            "tests/property/test_ledger_sums.py::test_what_the_filter_lets_in_never_exceeds_the_account",
        ),
        row="A2",
    ),
    Mutant(
        name="exact-fit-refused",
        path="accounting/charging/ledger.py",
        before="    if new.loss <= left.loss and new.failure <= left.failure:\n",
        after="    if new.loss < left.loss and new.failure <= left.failure:\n",
        wrong="a charge that takes all that is left is refused",
        tests=(LEDGER,),
    ),
    Mutant(
        name="failures-not-added",
        path="accounting/charging/ledger.py",
        before="        return Entry(self.loss + other.loss, self.failure + other.failure)\n",
        after="        return Entry(self.loss + other.loss, max(self.failure, other.failure))\n",
        wrong="of failure probabilities the largest counts and not the sum",
        tests=(
            "tests/property/test_ledger_sums.py::test_a_sum_is_never_under_the_real_one_and_hardly_over",
        ),
        row="A3",
    ),
    Mutant(
        name="delta-spent-twice",
        path="accounting/charging/budget.py",
        before="    for_conversion = float(Fraction(delta) * (1 - FAILURE_SHARE))\n",
        after="    for_conversion = float(Fraction(delta))\n",
        wrong="the part of delta that is kept for failures is spent on the conversion as well",
        tests=(
            "tests/unit/accounting/charging/test_budget.py::test_the_conversion_has_what_failures_leave_of_delta",
        ),
        row="A1",
    ),
    Mutant(
        name="conversion-with-wrong-sign",
        path="accounting/charging/budget.py",
        before="    return math.log(delta * order) / (order - 1) - math.log1p(-1 / order)\n",
        after="    return math.log(delta * order) / (order - 1) + math.log1p(-1 / order)\n",
        wrong="the conversion between Rényi losses and epsilon is off by a sign",
        tests=(
            "tests/unit/accounting/charging/test_budget.py::test_a_converted_gaussian_is_never_below_its_exact_curve",
        ),
        row="A1",
    ),
    Mutant(
        name="sampler-not-charged",
        path="accounting/charging/charges.py",
        before="    costs = [Cost(ideal.loss * way.factor + way.loss, ideal.failure + way.failure)"
        " for way in ways]\n",
        after="    costs = [Cost(ideal.loss * way.factor + way.loss, ideal.failure)"
        " for way in ways]\n",
        wrong="a sampler's error is not charged",
        tests=(
            "tests/unit/accounting/charging/test_charges.py::test_the_way_that_takes_the_smaller_part_of_the_account_is_charged",
        ),
        row="A4",
    ),
    Mutant(
        name="pure-loss-too-small",
        path="accounting/charging/charges.py",
        before="math.log1p(math.exp(-(2 * order - 1) * epsilon))",
        after="math.log1p(math.exp(-(2 * order + 1) * epsilon))",
        wrong="the divergence of randomized response is taken too small",
        tests=(
            "tests/unit/accounting/charging/test_charges.py::test_the_pure_loss_is_that_of_randomized_response",
        ),
        row="A4",
    ),
    Mutant(
        name="tail-lost-in-a-sum",
        path="accounting/reporting/composition.py",
        before="        cut = float(self.masses[end:].sum())\n",
        after="        cut = 0.0\n",
        wrong="what is cut off above a sum of losses is forgotten",
        tests=("tests/unit/accounting/reporting/test_composition.py",),
    ),
    Mutant(
        name="infinite-losses-not-added",
        path="accounting/reporting/composition.py",
        before="infinite = self.infinite + other.infinite - self.infinite * other.infinite\n",
        after="infinite = max(self.infinite, other.infinite)\n",
        wrong="the chance of an infinite loss does not grow with a second release",
        tests=("tests/unit/accounting/reporting/test_composition.py",),
    ),
    Mutant(
        name="transforms-taken-as-exact",
        path="accounting/reporting/convolution.py",
        before="(np.maximum(product, 0.0) + error)",
        after="np.maximum(product, 0.0)",
        wrong="the rounding of Fourier transforms is left out of sums of losses",
        tests=(
            "tests/unit/accounting/reporting/test_convolution.py::test_no_mass_is_below_the_exact_one",
        ),
        row="A6",
    ),
    Mutant(
        name="transforms-rounded-down",
        path="accounting/reporting/convolution.py",
        before="(np.maximum(product, 0.0) + error)",
        after="np.maximum(product - error, 0.0)",
        wrong="the rounding of Fourier transforms is taken off the masses, not added",
        tests=(
            "tests/unit/accounting/reporting/test_convolution.py::test_no_mass_is_below_the_exact_one",
        ),
        row="A6",
    ),
    Mutant(
        name="copies-one-too-few",
        path="accounting/reporting/composition.py",
        before="            if copies >> bit & 1:\n",
        after="            if (copies - 1) >> bit & 1:\n",
        wrong="of many equal releases one is not composed",
        tests=(
            "tests/unit/accounting/reporting/test_composition.py::test_copies_are_never_below_the_exact_binomial_law",
        ),
        row="A6",
    ),
    Mutant(
        name="poisson-in-one-direction",
        path="accounting/reporting/losses.py",
        before="table_of_outcomes(-losses[falling], np.exp(far[falling]), tail, width),",
        after="table_of_outcomes(losses[ahead], np.exp(near[ahead]), tail, width),",
        wrong="Poisson noise is composed in one of both directions",
        tests=(
            "tests/unit/accounting/reporting/test_losses.py::test_a_poisson_table_meets_the_worse_order_on_the_grid",
        ),
        row="A6",
    ),
    Mutant(
        name="support-not-counted",
        path="accounting/reporting/losses.py",
        before="np.exp(near[ahead]), below(mean, lowest), width),",
        after="np.exp(near[ahead]), 0.0, width),",
        wrong="falling below the shift of Poisson noise is no part of delta",
        tests=(LOSSES, REPORT),
    ),
    Mutant(
        name="rest-of-a-shift-not-composed",
        path="accounting/reporting/coordinates.py",
        before="LaplaceLoss(decay, shift): times for shift, times in shape}",
        after="LaplaceLoss(decay, shift): times for shift, times in shape[:1]}",
        wrong="of a vector's worst shift the part that is left over is not composed",
        tests=("tests/unit/accounting/reporting/test_coordinates.py",),
    ),
    Mutant(
        name="delta-not-divided",
        path="accounting/reporting/report.py",
        before="    each = delta / max(shares, 1)\n",
        after="    each = delta\n",
        wrong="releases that are added up are each read at the whole of delta",
        tests=(
            "tests/unit/accounting/reporting/test_report.py::test_below_the_smallest_delta_simple_sums_are_given",
        ),
        row="A6",
    ),
    Mutant(
        name="refinement-of-half-its-width",
        path="accounting/charging/raising.py",
        before="    width = 2 * new_epsilon\n",
        after="    width = new_epsilon\n",
        wrong="raising a pure level is charged as if losses lay in half of their range",
        tests=(
            "tests/unit/accounting/charging/test_raising.py::test_the_charge_covers_the_refinement_whatever_was_seen",
        ),
        row="A7",
    ),
    Mutant(
        name="raise-as-independent",
        path="accounting/charging/raising.py",
        before='INDEPENDENT: Final = frozenset({"gaussian"})\n',
        after='INDEPENDENT: Final = frozenset({"gaussian", "laplace"})\n',
        wrong="of a raise of Laplace noise the difference of both costs is charged",
        tests=(
            "tests/unit/accounting/charging/test_raising.py::test_no_choice_after_a_raise_takes_a_laplace_query_beyond_its_charge",
        ),
        row="A7",
    ),
    Mutant(
        name="squared-norm-not-squared",
        path="accounting/charging/per_unit.py",
        before="times**2 * step.l2_squared",
        after="times * step.l2_squared",
        wrong="a unit in several steps of a stream is charged too little for Gaussian noise",
        tests=(
            "tests/unit/accounting/charging/test_per_unit.py::test_no_choice_of_columns_moves_the_noises_further",
        ),
        row="A10",
    ),
)
