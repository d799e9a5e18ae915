"""All mutants, by what they are faults of."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.listed import (
    accounting,
    acts,
    api,
    histories,
    mechanisms,
    releasing,
    spending,
    storing,
    structures,
    web,
)
from tests.mutants.mutant import Mutant

MUTANTS: Final[Sequence[Mutant]] = tuple(
    mutant
    for module in (
        releasing,
        spending,
        acts,
        histories,
        accounting,
        mechanisms,
        structures,
        web,
        api,
        storing,
    )
    for mutant in module.MUTANTS
)
