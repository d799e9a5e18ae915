"""Provide faults that break claims of noise processes (N) and of the epsilons of levels (A14)."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        row="D17",
        name="weights-without-sensitivity",
        path="connectors/planning/plan.py",
        before="        return Products(len(self.factors), self.max_rows, self.grid, scaled,"
        " self.weights)\n",
        after="        return Products(len(self.factors), self.max_rows, self.grid, scaled)\n",
        wrong="numbers are multiplied by weights, and their sensitivity is that without them",
        tests=(
            "tests/property/test_sensitivity_add_remove.py::test_the_worst_person_attains_every_norm",
        ),
    ),
    Mutant(
        row="D17",
        name="weights-of-sums-without-those-of-squares",
        path="connectors/planning/moments/products.py",
        before="            (i, j): max(weight, squares[j - 1] if i == 0 else 0) ** 2\n",
        after="            (i, j): weight**2\n",
        wrong="squares with large weights are taken not to move two units apart",
        tests=(
            "tests/unit/connectors/planning/moments/test_products.py::test_no_two_units_are_further_apart_than_is_derived",
        ),
    ),
    Mutant(
        row="D17",
        name="weights-unread",
        path="services/noise/estimates/products.py",
        before="        parts = gradient / np.array(self.weights) if self.weights else gradient\n",
        after="        parts = gradient\n",
        wrong="intervals take a number with a small weight to be as near as one with a large one",
        tests=(
            "tests/unit/services/noise/estimates/test_coverage.py::test_an_interval_of_numbers_with_weights_misses_as_often_as_it_says",
        ),
    ),
    Mutant(
        row="N1",
        name="noise-of-every-level-added-up",
        path="mechanisms/multiple_release.py",
        before="        release = mechanism.increment(start, level, len(values) //"
        " mechanism.parts, stream)\n",
        after="        release = mechanism.increment(Fraction(0), level, len(values) //"
        " mechanism.parts, stream)\n",
        wrong="a level noisier than all others has their noise on top of all of its own",
        tests=(
            "tests/statistical/processes/test_marginal_law.py::test_every_level_alone_has_its_exact_law",
        ),
    ),
    Mutant(
        row="N2",
        name="release-beside-the-noisier-one",
        path="mechanisms/multiple_release.py",
        before="        release = mechanism.bridge(start, end, difference, level, stream)\n",
        after="        release = mechanism.increment(start, level, len(values) //"
        " mechanism.parts, stream)\n",
        wrong="a level between two others is drawn as if the noisier one had not been released",
        tests=(
            "tests/statistical/processes/test_joint_law.py::test_releases_in_any_order_have_the_joint_law_of_the_static_construction",
        ),
    ),
    Mutant(
        row="N2",
        name="raised-anchor-for-itself",
        path="mechanisms/multiple_release.py",
        before="    release = mechanism.bridge(Fraction(0), end, own, level, stream)\n",
        after="    release = mechanism.increment(Fraction(0), level, size, stream)\n",
        wrong="a raised anchor has noise that is independent of what was released",
        tests=(
            "tests/statistical/processes/test_joint_law.py::test_releases_in_any_order_have_the_joint_law_of_the_static_construction",
        ),
    ),
    Mutant(
        row="N3",
        name="exact-values-kept",
        path="mechanisms/multiple_release.py",
        before="        self._hold(mechanism, ladder, {}, _fingerprint(fingerprint_key,"
        " exact), streams, keep)\n",
        after="        self._hold(mechanism, ladder, {}, _fingerprint(fingerprint_key,"
        " exact), streams, keep)\n"
        "        self._exact = exact\n",
        wrong="the exact values stay in memory once the anchor is drawn",
        tests=(
            "tests/unit/mechanisms/test_multiple_release.py::test_the_exact_values_are_dropped_once_the_anchor_is_drawn",
        ),
    ),
    Mutant(
        row="N4",
        name="noise-of-four-deviations",
        path="mechanisms/lattice.py",
        before="DEVIATIONS = 40\n",
        after="DEVIATIONS = 4\n",
        wrong="room is left for four standard deviations of noise alone",
        tests=(
            "tests/unit/mechanisms/gaussian/test_process.py::test_a_plan_divides_the_step_and_leaves_40_deviations_of_room",
        ),
    ),
    Mutant(
        row="D18",
        name="extreme-at-first-edge",
        path="services/noise/estimates/quantiles.py",
        before="        below = _rising_to(sums - reach * np.sqrt(spread.sums))\n",
        after="        below = _rising(sums - reach * np.sqrt(spread.sums))\n",
        wrong="a minimum ends at the first edge below which noise makes rows of none",
        tests=(
            "tests/unit/services/noise/estimates/test_quantiles.py::test_the_end_of_an_extreme_misses_as_often_as_it_says_where_one_edge_decides",
        ),
    ),
    Mutant(
        row="A14",
        name="laplace-epsilon-of-half-the-divergence",
        path="accounting/guarantees.py",
        before="mechanism.cost(level, sensitivity, order).loss, delta)\n",
        after="mechanism.cost(level, sensitivity, order).loss / 2, delta)\n",
        wrong="an epsilon of Laplace noise names a level that loses more",
        tests=(
            "tests/unit/accounting/test_guarantees.py::test_the_guarantee_of_a_long_vector_is_above_its_exact_loss",
        ),
    ),
    Mutant(
        row="A14",
        name="delta-for-each-laplace-vector",
        path="accounting/reporting/report.py",
        before="    read = guarantee_at if _is_alone(gaussian, others) else _own_guarantee\n",
        after="    read = guarantee_at\n",
        wrong="every Laplace vector of a sum is read at all of delta",
        tests=(
            "tests/unit/accounting/reporting/test_report.py::test_several_laplace_vectors_do_not_each_have_all_of_delta",
        ),
    ),
    Mutant(
        row="A14",
        name="older-laplace-epsilons-at-delta",
        path="services/noise/process.py",
        before="        return 0.0 if pure else delta\n",
        after="        return delta\n",
        wrong="an epsilon means another level of a query than when it was registered",
        tests=(
            "tests/unit/services/noise/test_process.py::test_an_epsilon_of_an_older_laplace_query_is_its_pure_loss",
        ),
    ),
)
