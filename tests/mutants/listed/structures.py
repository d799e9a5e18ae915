"""List faults of streams' trees, of sparse histograms and of counts protected together."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

AHEAD: Final = "tests/api/streams/test_trees_that_look_ahead.py"
HISTOGRAM: Final = "tests/unit/structures/sparse_histogram/test_histogram.py"
NODES: Final = "tests/unit/structures/streams/test_node_noise.py"
PURE: Final = "tests/unit/mechanisms/laplace/test_pure.py"

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        row="V15",
        name="looking-ahead-quoted-by-divergences",
        path="services/computations/stream_quotes.py",
        before="    pure = not shape.past_only\n",
        after="    pure = False\n",
        wrong="a Laplace tree that subtracts is charged its divergences",
        tests=(
            f"{AHEAD}::test_each_tier_is_charged_the_pure_epsilon_of_its_level",
            f"{AHEAD}::test_the_charge_is_above_that_of_the_divergences_which_are_not_proved",
        ),
    ),
    Mutant(
        row="V15",
        name="looking-ahead-stored-as-any-laplace",
        path="services/noise/kinds/stream.py",
        before='        return family if own["shape"].past_only else purely_charged(family)\n',
        after="        return family\n",
        wrong="an open Laplace tree that subtracts is read as if its divergences were proved",
        tests=(f"{AHEAD}::test_exposure_is_that_of_the_pure_epsilon",),
    ),
    Mutant(
        row="V15",
        name="looking-ahead-exposed-by-its-lattice",
        path="services/exposure/exposure.py",
        before="    if isinstance(process.mechanism, PureLaplace):\n",
        after="    if False:\n",
        wrong="exposure composes the lattice law of a Laplace tree that subtracts",
        tests=(f"{AHEAD}::test_exposure_is_that_of_the_pure_epsilon",),
    ),
    Mutant(
        row="V15",
        name="pure-noise-charged-its-divergences",
        path="mechanisms/laplace/pure.py",
        before="        return Cost(loss=min(renyi_divergence(order, epsilon, epsilon), epsilon),"
        " failure=0.0)\n",
        after="        return super().cost(level, sensitivity, order)\n",
        wrong="noise of which only the pure epsilon holds is charged its divergences",
        tests=(f"{PURE}::test_the_charge_is_that_of_randomized_response",),
    ),
    Mutant(
        row="V15",
        name="pure-noise-read-at-delta",
        path="accounting/guarantees.py",
        before=" or isinstance(mechanism, PureLaplace) or not delta:\n",
        after=" or not delta:\n",
        wrong="noise of which only the pure epsilon holds is read by its l2 at a delta",
        tests=(f"{PURE}::test_an_epsilon_is_the_pure_one_at_every_delta",),
    ),
    Mutant(
        row="V15",
        name="pure-noise-refined-by-coordinates",
        path="accounting/charging/raising.py",
        before="        if isinstance(mechanism, PureLaplace):\n",
        after="        if not mechanism.name:\n",
        wrong="a raise is charged coordinate by coordinate where only the pure epsilon holds",
        tests=(f"{PURE}::test_a_raise_is_charged_for_the_whole_and_not_by_coordinates",),
    ),
    Mutant(
        name="tier-bridged-from-the-first",
        path="structures/streams/node_noise.py",
        before="                accurate = self._stored(group, tier - 1, weight)\n",
        after="                accurate = self._stored(group, 0, weight)\n",
        wrong="an inserted tier of a stream is bridged past its nearest neighbor",
        tests=(
            "tests/statistical/structures/streams/test_tree_covariance.py::test_outputs_have_the_covariance_of_shared_nodes",
        ),
        row="T2",
    ),
    Mutant(
        name="nodes-without-their-weight",
        path="structures/streams/node_noise.py",
        before="                before = weight * level\n",
        after="                before = level\n",
        wrong="tiers of heavy nodes are further apart than their levels",
        tests=(
            "tests/unit/structures/streams/test_node_noise.py",
            "tests/statistical/structures/streams/test_tree_covariance.py::test_outputs_have_the_covariance_of_shared_nodes",
        ),
    ),
    Mutant(
        name="epochs-with-half-the-noise",
        path="structures/streams/epochs.py",
        before="else 2 * tree.column_l1\n",
        after="else tree.column_l1\n",
        wrong="the nodes within an epoch have half of the noise that they are charged for",
        tests=(
            "tests/unit/structures/streams/test_forest.py",
            "tests/unit/structures/streams/test_epochs.py",
        ),
    ),
    Mutant(
        name="histogram-from-the-anchor",
        path="structures/sparse_histogram/histogram.py",
        before="        below = max(known for known in self._path if known < rung)\n",
        after="        below = min(known for known in self._path if known < rung)\n",
        wrong="levels of a sparse histogram are drawn past their nearest neighbor",
        tests=(
            "tests/statistical/histograms/test_sparse_histogram_law.py::test_which_keys_appear_at_which_levels_has_its_exact_law",
        ),
        row="H1",
    ),
    Mutant(
        name="histogram-counts-known-keys",
        path="structures/sparse_histogram/histogram.py",
        before="        left = self.domain.size - len(self._ranks)\n",
        after="        left = self.domain.size\n",
        wrong="keys whose noise is known join a sparse histogram a second time",
        tests=(HISTOGRAM,),
    ),
    Mutant(
        name="threshold-rounded-down",
        path="structures/sparse_histogram/threshold.py",
        before="        return COARSENESS * math.ceil(",
        after="        return COARSENESS * math.floor(",
        wrong="more false keys are reported than were announced",
        tests=("tests/unit/structures/sparse_histogram/test_threshold.py",),
    ),
    Mutant(
        name="size-without-sensitivity",
        path="structures/counts.py",
        before="        return Change(self.columns * each + own,"
        " self.columns * each**2 + own**2, max(each, own))\n",
        after="        return Change(self.columns * each, self.columns * each**2, each)\n",
        wrong="the size of a group is protected by nothing",
        tests=("tests/unit/structures/test_counts.py",),
    ),
    Mutant(
        name="norms-of-rows",
        path="structures/factorization/matrices.py",
        before="int((columns * columns).sum(axis=0).max())",
        after="int((columns * columns).sum(axis=1).max())",
        wrong="the sensitivity of a strategy is that of its rows",
        tests=(
            "tests/unit/structures/factorization/test_matrices.py::test_sensitivities_are_those_of_the_rounded_matrix",
        ),
        row="T4",
    ),
)
