"""Provide all mutants, by what they are faults of."""

from collections.abc import Sequence
from typing import Final

from tests.mutants.listed import (
    accounting,
    acts,
    api,
    histories,
    kept_charges,
    mechanisms,
    releasing,
    rotated_secrets,
    spending,
    storing,
    structures,
    web,
)
from tests.mutants.listed.asking import catalogue_claims, sql_claims
from tests.mutants.listed.claims import (
    accounting_claims,
    allowance_claims,
    chunk_claims,
    connection_claims,
    data_claims,
    formula_claims,
    mechanism_claims,
    noise_claims,
    sampler_claims,
    schedule_claims,
    server_claims,
    structure_claims,
)
from tests.mutants.listed.operating import trace_claims
from tests.mutants.listed.people import sign_on_claims, user_claims, wording_claims
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
        allowance_claims,
        chunk_claims,
        connection_claims,
        data_claims,
        formula_claims,
        mechanism_claims,
        noise_claims,
        sampler_claims,
        schedule_claims,
        server_claims,
        sign_on_claims,
        rotated_secrets,
        sql_claims,
        catalogue_claims,
        structure_claims,
        trace_claims,
        user_claims,
        wording_claims,
    )
    for mutant in module.MUTANTS
)
