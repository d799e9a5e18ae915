"""Faults that break claims of mechanisms (M)."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        row="M8",
        name="divergence-of-one-direction",
        path="mechanisms/poisson_divergence.py",
        before="    loss = max(up / (order - 1) - inside, (down + order * inside) / (order - 1))\n",
        after="    loss = up / (order - 1) - inside\n",
        wrong="the charge is the divergence of one direction",
        tests=(
            "tests/unit/mechanisms/test_poisson_divergence.py::test_the_divergence_is_the_larger_exact_sum",
        ),
    ),
    Mutant(
        row="M21",
        name="skellam-tails-not-charged",
        path="mechanisms/skellam.py",
        before="        return Cost(loss=loss, failure=min(failure, 1.0))\n",
        after="        return Cost(loss=loss, failure=0.0)\n",
        wrong="what falls where the neighbor's sampler gives out is not charged",
        tests=(
            "tests/unit/mechanisms/test_skellam.py::test_what_falls_where_the_neighbors_sampler_gives_out_is_charged",
        ),
    ),
)
