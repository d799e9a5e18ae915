"""Provide faults that break claims of samplers (S)."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        row="S1",
        name="gaussian-draws-charged-once",
        path="mechanisms/gaussian/process.py",
        before="inflation * (math.sqrt(draws) * 2.0**-40 + tail)",
        after="inflation * (2.0**-40 + tail)",
        wrong="all draws together are charged what one is off",
        tests=(
            "tests/unit/mechanisms/gaussian/test_charges.py::test_the_charge_by_probability_alone_is_as_stated",
        ),
    ),
    Mutant(
        row="S1",
        name="gaussian-factor-of-a-quarter",
        path="mechanisms/gaussian/process.py",
        before="            spread = 2 * order**2 / ((order - 1) * (HIGHEST_ORDER - 2 * order))\n",
        after="            spread = order**2 / (2 * (order - 1) * (HIGHEST_ORDER - 2 * order))\n",
        wrong="the loss is raised by a quarter of what the sampler's error asks for",
        tests=(
            "tests/unit/mechanisms/gaussian/test_charges.py::test_the_charge_by_a_factor_is_as_stated",
        ),
    ),
    Mutant(
        row="S1",
        name="gaussian-factor-for-any-loss",
        path="mechanisms/gaussian/process.py",
        before="draws * LOSS_A_DRAW * part",
        after="0.0",
        wrong="the factor is taken to cover draws that outnumber the loss",
        tests=(
            "tests/unit/mechanisms/gaussian/test_charges.py::test_the_factor_follows_from_hoelders_inequality",
        ),
    ),
    Mutant(
        row="S2",
        name="geometric-errors-not-charged",
        path="mechanisms/laplace/process.py",
        before="        distance = dimension * level_count * (2 * GEOMETRIC_ERROR + events)\n",
        after="        distance = dimension * (2 * GEOMETRIC_ERROR + events)\n",
        wrong="the draws of one level are charged, whatever the number of levels",
        tests=(
            "tests/unit/mechanisms/laplace/test_process.py::test_every_value_at_every_level_is_charged_its_draw",
        ),
    ),
    Mutant(
        row="S3",
        name="rejection-charged-once",
        path="mechanisms/rejection_charges.py",
        before="    total = inflation * (math.sqrt(draws) * RELATIVE_ERROR / 2 + tail)\n",
        after="    total = inflation * (RELATIVE_ERROR / 2 + tail)\n",
        wrong="all draws together are charged what one is off",
        tests=(
            "tests/unit/mechanisms/poisson/test_process.py::test_the_samplers_error_is_charged_in_two_ways",
        ),
    ),
    Mutant(
        row="S3",
        name="table-without-tails",
        path="randomness/inversion/weights.py",
        before="_LEAST = 1 << 80\n",
        after="_LEAST = 1 << 180\n",
        wrong="tables end where 2^-108 of the mode's probability is left",
        tests=(
            "tests/unit/randomness/inversion/test_weights.py::test_poisson_tables_are_within_the_stated_distance",
        ),
    ),
    Mutant(
        row="S3",
        name="threshold-looked-up",
        path="randomness/inversion/rows.py",
        before="np.where(within, _UNDECIDED, np.cumsum(within) + offsets[row])",
        after="np.where(within > 1, _UNDECIDED, np.cumsum(within) + offsets[row])",
        wrong="words of a cell with a threshold all have one value",
        tests=(
            "tests/unit/randomness/inversion/test_rows.py::test_words_decide_what_they_do_in_the_tables",
        ),
    ),
    Mutant(
        row="S4",
        name="one-key-for-all-releases",
        path="randomness/stream.py",
        before="        return cls(entropy(KEY_BYTES), threads)\n",
        after="        return cls(entropy(1) * KEY_BYTES, threads)\n",
        wrong="the key of a release has one random byte",
        tests=(
            "tests/unit/randomness/test_stream.py::test_fresh_streams_read_32_bytes_of_entropy_each",
        ),
    ),
    Mutant(
        row="S4",
        name="one-key-for-all-pieces",
        path="randomness/pieces.py",
        before="(piece, keys[place * KEY_BYTES : (place + 1) * KEY_BYTES])",
        after="(piece, keys[:KEY_BYTES])",
        wrong="the pieces of a long vector repeat each other's noise",
        tests=("tests/unit/randomness/test_pieces.py::test_no_two_pieces_have_the_same_noise",),
    ),
    Mutant(
        row="S20",
        name="skellam-two-draws-charged",
        path="mechanisms/skellam/process.py",
        before="rejection_charges(DRAWS_A_LEVEL * dimension",
        after="rejection_charges((DRAWS_A_LEVEL - 1) * dimension",
        wrong="the Bessel draw of a raise is not charged",
        tests=(
            "tests/unit/mechanisms/skellam/test_process.py::test_three_draws_a_value_and_level_are_charged",
        ),
    ),
    Mutant(
        row="S21",
        name="end-of-range-by-the-noise",
        path="mechanisms/multiple_release.py",
        before="    np.clip(release, -FARTHEST, FARTHEST, out=release)\n",
        after="",
        wrong="where noise leaves the range depends on the exact value",
        tests=(
            "tests/unit/mechanisms/laplace/test_process.py::test_what_leaves_the_range_ends_at_the_same_place_whatever_the_exact_value",
        ),
    ),
    Mutant(
        row="S30",
        name="staircase-charged-once",
        path="mechanisms/generalized_gaussian/mechanism.py",
        before="        return (NumericalCharge(1.0, inflation * dimension * ERROR),)\n",
        after="        return (NumericalCharge(1.0, inflation * ERROR),)\n",
        wrong="all values together are charged what one is off",
        tests=(
            "tests/unit/mechanisms/generalized_gaussian/test_mechanism.py::test_the_samplers_distance_is_charged_for_the_draws_of_one_release",
        ),
    ),
)
