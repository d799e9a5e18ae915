"""All mutants, by what they are faults of."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.listed import (
    accounting,
    accounting_claims,
    acts,
    api,
    data_claims,
    histories,
    kept_charges,
    mechanism_claims,
    mechanisms,
    noise_claims,
    releasing,
    rotated_secrets,
    sampler_claims,
    server_claims,
    spending,
    storing,
    structure_claims,
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
        kept_charges,
        accounting,
        mechanisms,
        structures,
        web,
        api,
        storing,
        accounting_claims,
        data_claims,
        mechanism_claims,
        noise_claims,
        sampler_claims,
        server_claims,
        rotated_secrets,
        structure_claims,
    )
    for mutant in module.MUTANTS
)
