"""Provide faults of noise processes and of what they draw from."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

JOINT: Final = "tests/statistical/processes/test_joint_law.py"
LAPLACE: Final = "tests/unit/mechanisms/laplace/test_process.py"
STATE: Final = "tests/unit/mechanisms/test_serialization.py"

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        name="bridge-the-other-way",
        path="mechanisms/multiple_release.py",
        before="        difference = np.subtract(far, values, out=room)\n",
        after="        difference = np.subtract(values, far, out=room)\n",
        wrong="a release between two others lies on the wrong side of the more accurate one",
        tests=(
            "tests/statistical/processes/test_joint_law.py::test_releases_in_any_order_have_the_joint_law_of_the_static_construction",
        ),
        row="N2",
    ),
    Mutant(
        name="raise-leaves-the-noise",
        path="mechanisms/multiple_release.py",
        before="    release += far\n    release -= own\n",
        after="    release += far\n",
        wrong="a raised anchor keeps the noise of the old one",
        tests=("tests/unit/mechanisms/test_multiple_release.py", JOINT),
    ),
    Mutant(
        name="anchor-tells-its-jumps",
        path="mechanisms/multiple_release.py",
        before="    release[size:] = 0\n",
        after="",
        wrong="the kinds of jumps of an anchor's own noise are kept, and tell the exact values",
        tests=(
            "tests/unit/mechanisms/skellam/test_process.py::test_a_path_keeps_releases_and_jumps_since_the_anchor_and_nothing_of_its_own",
        ),
        row="M22",
    ),
    Mutant(
        name="known-before-kept",
        path="mechanisms/multiple_release.py",
        before="""\
        if self._keep is not None:
            self._keep(self._encoded(path))
        self._path = path
""",
        after="""\
        self._path = path
        if self._keep is not None:
            self._keep(self._encoded(path))
""",
        wrong="a release that could not be kept is given when it is asked for again",
        tests=(
            "tests/unit/mechanisms/test_serialization.py::test_where_it_cannot_be_kept_nothing_is_released",
        ),
        row="N6",
    ),
    Mutant(
        name="state-in-another-form",
        path="mechanisms/serialization.py",
        before="        whole = encode(state) == encoded and _is_a_path(state)\n",
        after="        whole = _is_a_path(state)\n",
        wrong="a state that is written in another form is gone on from",
        tests=(STATE,),
    ),
    Mutant(
        name="gaussian-bridge-too-wide",
        path="mechanisms/gaussian/process.py",
        before="self._in_steps(weight * (noisy - level)), stream)",
        after="self._in_steps(noisy - level), stream)",
        wrong="a Gaussian bridge has the variance of an increment",
        tests=(
            "tests/statistical/processes/test_joint_law.py::test_releases_in_any_order_have_the_joint_law_of_the_static_construction",
        ),
        row="M2",
    ),
    Mutant(
        name="gaussian-half-charged",
        path="mechanisms/gaussian/process.py",
        before="        loss = Fraction(order) * sensitivity.l2_squared / (2 * level)\n",
        after="        loss = Fraction(order) * sensitivity.l2_squared / (4 * level)\n",
        wrong="Gaussian noise is charged half of what it costs",
        tests=(
            "tests/unit/mechanisms/gaussian/test_process.py::test_the_cost_is_order_times_rho_rounded_up",
        ),
        row="M1",
    ),
    Mutant(
        name="lattice-not-taken-off",
        path="mechanisms/gaussian/process.py",
        before="            epsilon=epsilon_at(delta / inflation, mu),\n",
        after="            epsilon=epsilon_at(delta, mu),\n",
        wrong="the epsilon that is shown is that of real noise",
        tests=(
            "tests/unit/mechanisms/gaussian/test_coarse_lattice.py::test_epsilon_is_read_at_a_delta_without_the_lattices_part",
        ),
        row="M3",
    ),
    Mutant(
        name="laplace-rest-forgotten",
        path="mechanisms/laplace/process.py",
        before="        loss = whole * divergence(sensitivity.linf)"
        " + (divergence(rest) if rest else 0.0)\n",
        after="        loss = whole * divergence(sensitivity.linf)\n",
        wrong="of the worst shift of a vector the part that is left over costs nothing",
        tests=(
            "tests/unit/mechanisms/laplace/test_process.py::test_the_cost_of_a_vector_is_that_of_its_most_concentrated_shift",
        ),
        row="M5",
    ),
    Mutant(
        name="laplace-lands-on-its-neighbor",
        path="mechanisms/laplace/process.py",
        before="        size = self.far.draw(len(moved), stream)\n        size += 1\n",
        after="        size = self.far.draw(len(moved), stream)\n",
        wrong="Laplace increments are 0 more often than they are to be",
        tests=(
            "tests/statistical/processes/test_excess_noise.py::test_ties_between_neighbors_have_their_exact_frequency",
        ),
        row="M6",
    ),
    Mutant(
        name="laplace-bridge-back-is-ahead",
        path="mechanisms/laplace/process.py",
        before="        out[right] = np.where(difference[right] > 0, -back, back)\n",
        after="        out[right] = np.where(difference[right] > 0, back, -back)\n",
        wrong="Laplace bridges never go back behind their beginning",
        tests=(LAPLACE, JOINT),
    ),
    Mutant(
        name="poisson-bridge-of-the-other-part",
        path="mechanisms/poisson/process.py",
        before="(level - accurate) / (noisy - accurate), stream)",
        after="(noisy - level) / (noisy - accurate), stream)",
        wrong="a Poisson bridge has the part of the jumps that comes after its level",
        tests=(
            "tests/unit/mechanisms/poisson/test_process.py::test_bridges_stay_between_their_ends",
        ),
        row="M9",
    ),
    Mutant(
        name="poisson-best-shift",
        path="mechanisms/poisson/curve.py",
        before="    bounds = [_bound(mean, shape, delta) for shape in shapes]\n",
        after="    return min(epsilon_of_shape(mean, shape, delta) for shape in shapes)\n",
        wrong="the promise of Poisson noise is that of the best of the shifts that are tried",
        tests=(
            "tests/unit/mechanisms/poisson/test_vectors.py::test_the_guarantee_is_that_of_the_worst_shift",
        ),
        row="M7",
    ),
    Mutant(
        name="directions-ruled-out-by-a-coarse-grid",
        path="mechanisms/loss_sums.py",
        before="        if bounds[place] >= largest:\n",
        after="        if largest == -math.inf:\n",
        wrong="of several sums only the one that a coarse grid favors is read on the fine one",
        tests=(
            "tests/unit/mechanisms/test_loss_sums.py::test_the_largest_of_sums_is_that_of_fine_grids_where_a_coarse_one_has_them_the_other_way",
        ),
    ),
    Mutant(
        name="terms-of-skellam-that-matter-left-out",
        path="randomness/bessel/law.py",
        before="_NEGLIGIBLE = 2.0**-70\n",
        after="_NEGLIGIBLE = 2.0**-40\n",
        wrong="probabilities of Skellam noise lack terms that move them and what is charged",
        tests=(
            "tests/unit/randomness/bessel/test_law.py::test_terms_of_the_expansion_that_are_left_out_are_lost_in_rounding",
        ),
    ),
    Mutant(
        name="series-of-outcomes-begins-too-late",
        path="mechanisms/generalized_gaussian/tails.py",
        before="for k in range(_TERMS, 0, -1))\n",
        after="for k in range(_TERMS, 1, -1))\n",
        wrong="chances of outcomes near 0 lack the first term of their series",
        tests=(
            "tests/unit/mechanisms/generalized_gaussian/test_tails.py::test_chances_of_larger_outcomes_have_all_their_digits",
        ),
    ),
    Mutant(
        name="skellam-jumps-of-one-kind",
        path="mechanisms/skellam/process.py",
        before="np.subtract(up, net, out=down)",
        after="np.copyto(down, up)",
        wrong="a Skellam bridge splits the jumps up in place of those down",
        tests=("tests/unit/mechanisms/skellam/test_process.py", JOINT),
    ),
    Mutant(
        name="skellam-jumps-of-negative-noise",
        path="mechanisms/skellam/process.py",
        before="        jumps += np.maximum(noise, 0)\n",
        after="        jumps += np.abs(noise)\n",
        wrong="negative Skellam noise is raised with too many jumps",
        tests=(
            "tests/unit/mechanisms/skellam/test_process.py",
            "tests/statistical/processes/test_skellam_raises.py",
        ),
    ),
    Mutant(
        name="ties-of-thresholds",
        path="randomness/bernoulli.py",
        before="out[i] = low < rest or (low == rest and self._further(chance))",
        after="out[i] = low > rest or (low == rest and self._further(chance))",
        wrong="events whose first bits are those of their chance are decided the wrong way",
        tests=(
            "tests/unit/randomness/test_bernoulli.py::test_an_equal_first_word_is_decided_by_the_bits_below",
        ),
        row="S21",
    ),
    Mutant(
        name="digits-in-the-wrong-order",
        path="randomness/geometric.py",
        before="for chance in reversed(self.digits[low : low + 8]):",
        after="for chance in self.digits[low : low + 8]:",
        wrong="the binary digits of geometric noise are put together from the wrong end",
        tests=("tests/unit/randomness/test_geometric.py",),
    ),
    Mutant(
        name="window-not-taken-off",
        path="randomness/normal.py",
        before="        self.deviation = math.sqrt(variance"
        " - Fraction(1 << 2 * self.window_bits, 12))\n",
        after="        self.deviation = math.sqrt(variance)\n",
        wrong="normal draws are wider by the window that is added to them",
        tests=(
            "tests/unit/randomness/test_normal.py::test_windows_split_one_deviation_into_512_to_1024",
        ),
        row="S1",
    ),
    Mutant(
        name="successes-one-too-early",
        path="randomness/binomial.py",
        before="        out[waiting] += (place <= limit[:, None]).sum(axis=1)\n",
        after="        out[waiting] += (place < limit[:, None]).sum(axis=1)\n",
        wrong="the last of all trials never succeeds",
        tests=("tests/unit/randomness/test_binomial.py",),
    ),
    Mutant(
        name="stream-after-a-fork",
        path="randomness/stream.py",
        before="        if os.getpid() != self._process:\n",
        after="        if self._process is None:\n",
        wrong="a forked worker repeats the noise of its parent",
        tests=(
            "tests/unit/randomness/test_stream.py::test_a_stream_from_before_a_fork_refuses_to_draw_after_it",
        ),
        row="S4",
    ),
    Mutant(
        name="ladder-rounded-down",
        path="privacy/level.py",
        before="        level = -(-scaled >> _SCALE) * self.unit\n",
        after="        level = (scaled >> _SCALE) * self.unit\n",
        wrong="levels are rounded to less noise",
        tests=("tests/unit/privacy/test_level.py",),
    ),
    Mutant(
        name="ladder-one-rung-too-accurate",
        path="privacy/level.py",
        before="        while self.value(rung) < level:\n",
        after="        while rung < self.last and self.value(rung + 1) < level:\n",
        wrong="who asks for a level between two rungs is given the more accurate one",
        tests=("tests/unit/privacy/test_level.py",),
    ),
)
