"""Faults that break claims of samplers (S)."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        row="S3",
        name="rejection-charged-once",
        path="mechanisms/rejection_charges.py",
        before="    total = inflation * (math.sqrt(draws) * RELATIVE_ERROR / 2 + tail)\n",
        after="    total = inflation * (RELATIVE_ERROR / 2 + tail)\n",
        wrong="all draws together are charged what one is off",
        tests=(
            "tests/unit/mechanisms/test_poisson.py::test_the_samplers_error_is_charged_in_two_ways",
        ),
    ),
    Mutant(
        row="S20",
        name="skellam-two-draws-charged",
        path="mechanisms/skellam.py",
        before="rejection_charges(DRAWS_A_LEVEL * dimension",
        after="rejection_charges((DRAWS_A_LEVEL - 1) * dimension",
        wrong="the Bessel draw of a raise is not charged",
        tests=(
            "tests/unit/mechanisms/test_skellam.py::test_three_draws_a_value_and_level_are_charged",
        ),
    ),
)
