"""Provide faults that break the claim about searches of the catalogue (V)."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.mutant import Mutant

LISTING: Final = "tests/unit/services/catalogue/test_listing.py"

MUTANTS: Final[Sequence[Mutant]] = (
    Mutant(
        row="V97",
        name="catalogue-of-all-tiers",
        path="services/catalogue/listing.py",
        before="        statement = statement.where(in_sight(limit))\n",
        after="        pass\n",
        wrong="an analyst searches and counts the queries of tiers above",
        tests=(f"{LISTING}::test_a_search_tells_nothing_of_queries_out_of_sight",),
    ),
    Mutant(
        row="V97",
        name="catalogue-without-clearance",
        path="services/catalogue/listing.py",
        before='        if limit is None and not principal.roles & {"admin", "auditor"}:\n',
        after="        if False:\n",
        wrong="who is cleared for no tier lists the queries of all",
        tests=(f"{LISTING}::test_who_is_cleared_for_nothing_finds_nothing",),
    ),
)
