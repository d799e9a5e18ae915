"""Describe tiers, as callers send them."""

from typing import Annotated

from pydantic import Field, WithJsonSchema

from penstock.spec_fields import Name, Spec, Text


class TierSpec(Spec):
    """Represent a tier to create: at a rank, just above another tier, or on top."""

    name: Name
    rank: int | None = Field(default=None, ge=-1_000_000, le=1_000_000)
    above: Name | None = None
    description: Annotated[
        Text, Field(max_length=1000), WithJsonSchema({"type": "string", "maxLength": 1000})
    ] = ""


class TierChange(Spec):
    """Represent a change of a tier; an omitted field stays as it is."""

    rank: int | None = Field(default=None, ge=-1_000_000, le=1_000_000)
    above: Name | None = None
    description: (
        Annotated[
            Text, Field(max_length=1000), WithJsonSchema({"type": "string", "maxLength": 1000})
        ]
        | None
    ) = None
