"""Provide faults that break claims of sparse histograms and running sums (H, T)."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        row="H2",
        name="false-keys-of-one-level-charged",
        path="structures/sparse_histogram/charges.py",
        before="    return inflation * level_count * (expected * error + count)\n",
        after="    return inflation * (expected * error + count)\n",
        wrong="the false keys of one level are charged, whatever the number of levels",
        tests=(
            "tests/unit/structures/sparse_histogram/test_charges.py::test_false_keys_are_charged_their_relative_error_at_every_level",
        ),
    ),
    Mutant(
        row="H2",
        name="coarse-lattice-charged-as-a-fine-one",
        path="structures/sparse_histogram/charges.py",
        before="    return CEILING_ERROR * max(1.0, FINE_STEPS / ladder.finest)\n",
        after="    return CEILING_ERROR\n",
        wrong="sums over a coarser lattice are charged as if they were as near to integrals",
        tests=(
            "tests/unit/structures/sparse_histogram/test_noise.py::test_a_coarser_lattice_is_charged_the_square_of_its_steps",
        ),
    ),
    Mutant(
        row="H3",
        name="report-by-size",
        path="structures/sparse_histogram/contents.py",
        before="    above = steps > threshold\n",
        after="    above = np.flatnonzero(steps > threshold)\n"
        '    above = above[np.argsort(-steps[above], kind="stable")]\n',
        wrong="the keys of a report come with the largest first",
        tests=(
            "tests/unit/structures/sparse_histogram/test_histogram.py::test_keys_are_handed_out_in_the_order_of_the_domain",
        ),
    ),
    Mutant(
        row="H4",
        name="state-as-long-as-it-is",
        path="structures/sparse_histogram/state.py",
        before='    return content.ljust(1 << (len(content) - 1).bit_length(), b"\\0")\n',
        after="    return content\n",
        wrong="the length of a state tells how many keys there are",
        tests=(
            "tests/unit/structures/sparse_histogram/test_state.py::test_whoever_reloads_before_every_release_draws_the_same",
        ),
    ),
    Mutant(
        row="H5",
        name="histogram-state-of-other-levels",
        path="services/noise/sealed_histogram.py",
        before="    if set(histogram.limits) != set(rungs):\n"
        '        raise misfit(query, "has a state of other levels than were released")\n',
        after="",
        wrong="a histogram goes on from a state of other levels than were released",
        tests=(
            "tests/unit/services/noise/kinds/test_sparse_histogram.py::test_a_state_of_levels_that_were_not_released_is_found_out",
        ),
    ),
    Mutant(
        row="H7",
        name="silence-taken-for-certain",
        path="structures/sparse_histogram/exact_crossing.py",
        before="            parts.append(paths[:, self._never_above(paths.shape[1], stream)])\n",
        after="            parts.append(paths)\n",
        wrong="keys join as if silence at the levels before had been certain",
        tests=(
            "tests/statistical/histograms/test_laplace_histogram_law.py::test_after_many_close_levels_as_many_join_as_the_enumeration_says",
        ),
    ),
    Mutant(
        row="H7",
        name="keys-that-were-not-silent",
        path="structures/sparse_histogram/exact_crossing.py",
        before="                    silent &= paths[row] <= bar.threshold\n",
        after="                    silent &= paths[row] <= paths[row]\n",
        wrong="keys join that would have been reported before",
        tests=(
            "tests/unit/structures/sparse_histogram/test_exact_crossing.py::test_reported_keys_are_above_the_new_threshold_and_below_the_others",
        ),
    ),
    Mutant(
        row="H6",
        name="open-keys-of-one-group",
        path="connectors/planning/sensitivity.py",
        before="            l1=max_groups * given.l1, l2_squared=max_groups *"
        " given.l2_squared, linf=given.linf\n",
        after="            l1=given.l1, l2_squared=given.l2_squared, linf=given.linf\n",
        wrong="a unit is taken to be in one group",
        tests=(
            "tests/property/test_sensitivity_open_keys.py::test_the_worst_person_attains_every_norm",
        ),
    ),
    Mutant(
        row="T1",
        name="tree-one-level-too-low",
        path="structures/streams/kary.py",
        before="        return Fraction(self.height)\n\n    @property\n    def column_l2_squared",
        after="        return Fraction(self.height - 1)\n"
        "\n"
        "    @property\n"
        "    def column_l2_squared",
        wrong="an element is taken to be in one node less than it is",
        tests=(
            "tests/unit/structures/streams/test_forest.py::test_no_element_weighs_more_than_is_stated",
        ),
    ),
    Mutant(
        row="A10",
        name="nodes-behind-the-last-step-forgotten",
        path="structures/streams/kary.py",
        before="rest >= unit - tree.zero(place - 1)",
        after="rest >= unit",
        wrong="a node to which outputs are rounded up counts no elements of a unit",
        tests=(
            "tests/unit/structures/streams/test_forest.py::test_the_worst_steps_of_a_unit_move_the_nodes_exactly_as_far_as_is_stated",
        ),
    ),
    Mutant(
        row="A10",
        name="nodes-of-a-smooth-tree-taken-for-smaller",
        path="structures/streams/smooth_binary.py",
        before="        widest = (math.comb(tree.ones + n, n) for n in range(tree.zeros))\n",
        after="        widest = (math.comb(tree.ones - 1 + n, n) for n in range(tree.zeros))\n",
        wrong="many elements of a unit are taken to share fewer nodes than they can",
        tests=(
            "tests/unit/structures/streams/test_forest.py::test_many_steps_of_a_unit_have_a_bound_that_no_steps_exceed",
        ),
    ),
    Mutant(
        row="T2",
        name="tiers-of-a-node-for-themselves",
        path="structures/streams/node_noise.py",
        before="                noise = noise + self.mechanism.increment(before, weight *"
        " level, noise.size, stream)\n",
        after="                noise = self.mechanism.increment(Fraction(0), weight * level,"
        " noise.size, stream)\n",
        wrong="every tier of a stream has noise of its own",
        tests=(
            "tests/statistical/structures/streams/test_tree_covariance.py::test_outputs_have_the_covariance_of_shared_nodes",
        ),
    ),
    Mutant(
        row="T3",
        name="epochs-always-lossless",
        path="structures/streams/epochs.py",
        before="        return self.past_only\n",
        after="        return True\n",
        wrong="epochs are said to be lossless where they are not",
        tests=(
            "tests/unit/structures/streams/test_forest.py::test_a_forest_is_lossless_where_outputs_determine_all_noises",
        ),
    ),
    Mutant(
        row="T5",
        name="subtracted-elements-added",
        path="structures/streams/forest.py",
        before="= 1 if end > start else -1\n",
        after="= 1\n",
        wrong="nodes that subtract count their elements with the wrong sign",
        tests=(
            "tests/unit/structures/streams/test_forest.py::test_the_matrices_multiply_to_prefix_sums",
        ),
    ),
    Mutant(
        row="T6",
        name="root-columns-of-one-step",
        path="structures/streams/root_matrices.py",
        before="    for first in range(min(count, length)):\n",
        after="    for first in range(1):\n",
        wrong="a unit in several steps is charged as in one",
        tests=(
            "tests/unit/structures/streams/test_root_matrices.py::test_no_columns_weigh_more_than_the_first_ones",
        ),
    ),
    Mutant(
        row="T7",
        name="buffered-columns-of-one-step",
        path="structures/streams/buffered/encoder.py",
        before="    count = min(count, matrix.length)\n",
        after="    count = 1\n",
        wrong="a unit in several steps of a buffered stream is charged as in one",
        tests=(
            "tests/unit/structures/streams/buffered/test_encoder.py::test_no_columns_weigh_more_than_the_first_ones",
        ),
    ),
    Mutant(
        row="T7",
        name="buffered-center-without-its-fraction",
        path="structures/streams/buffered/noise.py",
        before="rounded_bridge(-digits[tier], ",
        after="rounded_bridge(0 * digits[tier], ",
        wrong="draws are around whole steps, so that neighbors differ by up to one at every step",
        tests=(
            "tests/unit/structures/streams/buffered/test_noise.py::test_draws_are_centered_where_the_exact_buffers_say",
        ),
    ),
    Mutant(
        row="T7",
        name="joined-with-the-whole-difference",
        path="structures/streams/buffered/joining.py",
        before="drawn + difference * weight.numerator // weight.denominator\n",
        after="drawn + difference\n",
        wrong="a tier that joins has all the noise of the noisier one and more",
        tests=(
            "tests/statistical/structures/streams/test_buffered_covariance.py::test_outputs_have_the_covariance_of_one_noise_a_step",
        ),
    ),
    Mutant(
        row="T7",
        name="buffered-roundings-of-one-tier",
        path="structures/streams/buffered/sensitivity.py",
        before="    joined = tiers * JOINING\n",
        after="    tiers = 1\n    joined = tiers * JOINING\n",
        wrong="roundings are charged as if a stream had one tier",
        tests=(
            "tests/unit/structures/streams/buffered/test_sensitivity.py::test_roundings_grow_with_the_tiers",
        ),
    ),
    Mutant(
        row="T7",
        name="buffered-draws-of-one-step",
        path="services/noise/kinds/buffered_shape.py",
        before="        return self.matrix.length + 2 * (",
        after="        return 1 + 2 * (",
        wrong="the sampler of buffers is charged for one step",
        tests=(
            "tests/unit/services/computations/test_stream_structure.py::test_draws_of_buffers_are_charged_at_every_step_for_the_numbers_that_a_unit_moves",
        ),
    ),
    Mutant(
        row="T7",
        name="buffered-draws-priced-once",
        path="services/noise/kinds/stream.py",
        before="        return query.dimension * self.shape.draws_of_a_number\n",
        after="        return query.dimension\n",
        wrong="a level of buffers that is raised is charged for one draw of a number",
        tests=(
            "tests/unit/services/ledger/test_repricing.py::test_no_order_of_acts_leaves_another_ledger",
        ),
    ),
    Mutant(
        row="T10",
        name="size-taken-off",
        path="structures/counts.py",
        before="        values[:, :-1] = (nodes[:, :-1] + size[:, None]) / 2\n",
        after="        values[:, :-1] = (nodes[:, :-1] - size[:, None]) / 2\n",
        wrong="counts are read with the size taken off in place of added",
        tests=(
            "tests/unit/structures/test_counts.py::test_values_and_variances_are_those_of_the_matrices",
        ),
    ),
    Mutant(
        row="T11",
        name="worst-member-of-all-columns",
        path="structures/ellipse.py",
        before="        top = slope // (-2 * bend) if bend else self.non_zero\n",
        after="        top = self.non_zero\n",
        wrong="counts without their size are charged for units of as many columns as there may be,"
        " who are not the worst",
        tests=(
            "tests/unit/structures/test_ellipse.py::test_no_member_moves_the_nodes_further_than_is_stated_and_one_does",
        ),
    ),
    Mutant(
        row="T11",
        name="one-number-of-columns-decides",
        path="structures/ellipse.py",
        before="        return (least,) if before <= 0 else (least, least + 1)\n",
        after="        return (least,)\n",
        wrong="counts without their size have more noise than the least",
        tests=(
            "tests/unit/structures/test_ellipse.py::test_no_gaussian_noise_of_any_covariance_is_less",
        ),
    ),
    Mutant(
        row="T12",
        name="size-without-its-error",
        path="services/noise/estimates/sized_counts.py",
        before="        width = math.hypot(own.half_width, other.half_width / 2)\n",
        after="        width = own.half_width\n",
        wrong="the error of a released size is left out of intervals",
        tests=(
            "tests/api/queries/test_correlated_counts.py::test_counts_are_read_with_a_released_size_and_its_error",
        ),
    ),
)
