"""Provide faults that break claims of mechanisms (M)."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        row="M4",
        name="pure-epsilon-of-one-value",
        path="mechanisms/laplace/process.py",
        before="        return Guarantee(Definition.PURE, epsilon=rounded_up(sensitivity.l1 /"
        " level), delta=0.0)\n",
        after="        return Guarantee(Definition.PURE, epsilon=rounded_up(sensitivity.linf"
        " / level), delta=0.0)\n",
        wrong="the pure epsilon is that of one value and not of the vector",
        tests=(
            "tests/unit/mechanisms/laplace/test_process.py::test_the_promise_is_pure_and_the_same_at_every_delta",
        ),
    ),
    Mutant(
        row="M5",
        name="laplace-shifts-of-two-steps",
        path="mechanisms/laplace/process.py",
        before="            even = max(sensitivity.l2_squared / sensitivity.l1, unit)\n",
        after="            even = max(sensitivity.l2_squared / sensitivity.l1, 2 * unit)\n",
        wrong="shifts that l2 leaves one step each are taken to be fewer and of two steps",
        tests=(
            "tests/unit/mechanisms/laplace/test_shifts.py::test_no_vector_within_all_three_norms_costs_more_and_one_costs_as_much",
        ),
    ),
    Mutant(
        row="M8",
        name="divergence-of-one-direction",
        path="mechanisms/poisson/divergence.py",
        before="    loss = max(up / (order - 1) - inside, (down + order * inside) / (order - 1))\n",
        after="    loss = up / (order - 1) - inside\n",
        wrong="the charge is the divergence of one direction",
        tests=(
            "tests/unit/mechanisms/poisson/test_divergence.py::test_the_divergence_is_the_larger_exact_sum",
        ),
    ),
    Mutant(
        row="M20",
        name="skellam-best-shift",
        path="mechanisms/skellam/curve.py",
        before="    bounds = [_bound(variance, shape, delta) for shape in shapes]\n",
        after="    return min(epsilon_of_shape(variance, shape, delta) for shape in shapes)\n",
        wrong="the promise is that of the shift that tells least",
        tests=(
            "tests/unit/mechanisms/skellam/test_process.py::test_the_promise_for_a_vector_is_that_of_the_worst_shift",
        ),
    ),
    Mutant(
        row="M20",
        name="worst-shapes-that-move-too-cheaply",
        path="mechanisms/shifts.py",
        before="        moves = (2 * (a - b + 1) for a, b in pairwise(sizes) if a < top)\n",
        after="        moves = (2 * (a - b) for a, b in pairwise(sizes) if a < top)\n",
        wrong="shapes are left out for others that l2 does not admit",
        tests=(
            "tests/unit/mechanisms/test_shifts.py::test_every_vector_becomes_one_of_the_worst_shapes_step_by_step",
        ),
    ),
    Mutant(
        row="M8",
        name="charge-without-some-of-the-smallest-shifts",
        path="mechanisms/shifts.py",
        before="        ones = min(l1, l2_squared)\n",
        after="        ones = min(l1, l2_squared) // 2\n",
        wrong="where l2 binds the charge is that of a vector that does not fill the norms",
        tests=(
            "tests/unit/mechanisms/poisson/test_vectors.py::test_the_charge_is_that_of_the_costliest_vector",
        ),
    ),
    Mutant(
        row="M20",
        name="skellam-value-of-twice-the-variance",
        path="mechanisms/skellam/curve.py",
        before="        return _single(variance, shape[0][0], delta)\n",
        after="        return _single(2 * variance, shape[0][0], delta)\n",
        wrong="one value is promised the epsilon of noise of twice its variance",
        tests=(
            "tests/unit/mechanisms/skellam/test_curve.py::test_one_shifted_value_has_its_exact_epsilon",
        ),
    ),
    Mutant(
        row="M21",
        name="skellam-tails-not-charged",
        path="mechanisms/skellam/process.py",
        before="        return Cost(loss=loss, failure=min(failure, 1.0))\n",
        after="        return Cost(loss=loss, failure=0.0)\n",
        wrong="what falls where the neighbor's sampler gives out is not charged",
        tests=(
            "tests/unit/mechanisms/skellam/test_process.py::test_what_falls_where_the_neighbors_sampler_gives_out_is_charged",
        ),
    ),
    Mutant(
        row="M30",
        name="rest-of-the-worst-shift-forgotten",
        path="mechanisms/generalized_gaussian/mechanism.py",
        before="            kinds.append(Shifted(power, rounded_up(rest / level), 1))\n",
        after="            kinds.append(Shifted(power, rounded_up(rest / level), 0))\n",
        wrong="of the worst shift the part that is left over tells nothing",
        tests=(
            "tests/unit/mechanisms/generalized_gaussian/test_shifts.py::test_no_enumerated_shift_has_a_larger_delta",
        ),
    ),
    Mutant(
        row="M31",
        name="divergence-of-one-of-many",
        path="mechanisms/generalized_gaussian/mechanism.py",
        before="            kind.times * renyi_divergence(order, kind.power, kind.shift)\n",
        after="            renyi_divergence(order, kind.power, kind.shift)\n",
        wrong="of the values that move together one is charged",
        tests=(
            "tests/unit/mechanisms/generalized_gaussian/test_mechanism.py::test_the_cost_adds_the_divergences_of_the_worst_shift_and_has_no_failure",
        ),
    ),
    Mutant(
        row="M31",
        name="quadrature-without-its-part",
        path="mechanisms/generalized_gaussian/law.py",
        before="    return log_moment / above * (1 + _SAFETY)\n",
        after="    return log_moment / above * (1 - _SAFETY)\n",
        wrong="the divergence is rounded down",
        tests=(
            "tests/unit/mechanisms/generalized_gaussian/test_law.py::test_the_divergence_is_the_integral_rounded_up",
        ),
    ),
    Mutant(
        row="M32",
        name="path-between-independent-levels",
        path="mechanisms/generalized_gaussian/mechanism.py",
        before="        if accurate != 0:\n            raise self._no_path()\n",
        after="",
        wrong="a level is drawn as if there were a way from another one",
        tests=(
            "tests/unit/mechanisms/generalized_gaussian/test_mechanism.py::test_there_is_no_way_from_one_release_to_another",
        ),
    ),
    Mutant(
        row="M23",
        name="exponential-range-of-one-value",
        path="mechanisms/exponential/process.py",
        before="        return -math.expm1(-rounded_up(sensitivity.l1 / level)) * (1 + _SAFETY)\n",
        after="        return -math.expm1(-rounded_up(sensitivity.linf / level)) * (1 + _SAFETY)\n",
        wrong="the chance to leave the range is that of one value and not of the vector",
        tests=(
            "tests/unit/mechanisms/exponential/test_process.py::test_delta_is_the_chance_to_leave_the_range_at_every_epsilon",
        ),
    ),
    Mutant(
        row="M23",
        name="exponential-bridge-beyond-its-end",
        path="mechanisms/exponential/process.py",
        before="        out[places] = np.minimum(way, difference[places])\n",
        after="        out[places] = way\n",
        wrong="a bridge of exponential noise can rise above the noisier release",
        tests=(
            "tests/statistical/library/test_exponential_paths.py::test_releases_in_any_order_have_the_joint_law_and_each_its_own",
        ),
    ),
    Mutant(
        row="M24",
        name="randomized-answer-of-two-categories",
        path="mechanisms/randomized_response/law.py",
        before="    return math.log1p(float(categories * keep / (1 - keep))) * (1 + _SAFETY)\n",
        after="    return math.log1p(float(2 * keep / (1 - keep))) * (1 + _SAFETY)\n",
        wrong="an answer among many categories costs no more than one of two",
        tests=(
            "tests/unit/mechanisms/randomized_response/test_law.py::test_epsilon_is_the_largest_ratio_of_two_answers_laws",
        ),
    ),
    Mutant(
        row="M24",
        name="randomized-bridge-that-always-arrives",
        path="mechanisms/randomized_response/process.py",
        before="        self._spread(out, apart[~arrived], stream)\n",
        after="        out[apart[~arrived]] = difference[apart[~arrived]]\n",
        wrong="an answer between two others is always one of these",
        tests=(
            "tests/statistical/library/test_randomized_paths.py::test_answers_in_any_order_have_the_joint_law_of_the_chain",
        ),
    ),
    Mutant(
        row="M40",
        name="one-more-than-the-cutoff",
        path="mechanisms/generalized_gaussian/sparse_vector.py",
        before="[: self.cutoff]",
        after="[: self.cutoff + 1]",
        wrong="a search finds one value more than it pays for",
        tests=(
            "tests/unit/mechanisms/generalized_gaussian/test_sparse_vector.py::test_what_is_found_for_every_noise_adds_up_to_the_law",
        ),
    ),
    Mutant(
        row="M41",
        name="correction-without-its-search",
        path="mechanisms/generalized_gaussian/sparse_vector_correction.py",
        before="        return likely * self._divergence(epsilon - search) + (1 - likely) *"
        " self._divergence(\n",
        after="        return likely * self._divergence(epsilon) + (1 - likely) *"
        " self._divergence(\n",
        wrong="what the search tells is no part of what is promised",
        tests=(
            "tests/unit/mechanisms/generalized_gaussian/test_sparse_vector_correction.py::test_no_step_may_be_left_out_of_what_is_stated",
        ),
    ),
    Mutant(
        row="M42",
        name="corrected-release-with-levels",
        path="mechanisms/generalized_gaussian/sparse_vector_correction.py",
        before="    def release(self, values: ArrayLike, stream: Stream) -> Corrected:\n",
        after="    def bridge(self, far: Corrected, level: Fraction, stream: Stream) ->"
        " Corrected:\n"
        "        own = self.first.increment(Fraction(0), level, len(far.values),"
        " stream)\n"
        "        return Corrected(far.values + own, far.places)\n"
        "\n"
        "    def release(self, values: ArrayLike, stream: Stream) -> Corrected:\n",
        wrong="another level is drawn from a corrected release",
        tests=(
            "tests/unit/mechanisms/generalized_gaussian/test_sparse_vector_correction.py::test_there_are_no_levels_to_be_drawn_from_each_other",
        ),
    ),
)
