"""Hold on what terms a question is registered: its name, its levels, its noise."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from penstock_client.errors import InvalidArgument
from penstock_client.models import Me
from penstock_client.preview import target_of

_CONTRIBUTION = ("max_groups", "max_rows_per_group")


@dataclass(frozen=True)
class Terms:
    """Hold the terms of a question.

    The level is one of ``epsilon`` (at the caller's clearance), ``share`` (of each tier's budget)
    and ``levels`` (by tier, each an epsilon or such as ``{"rho": 0.01}``).  ``contribution`` bounds
    how much one privacy unit adds: its ``max_groups`` and ``max_rows_per_group``.
    """

    name: str | None = None
    epsilon: float | None = None
    share: float | None = None
    levels: Mapping[str, object] | None = None
    mechanism: str = "gaussian"
    contribution: Mapping[str, int] | None = None

    def changed(self, **terms: Any) -> Self:
        """Return the terms with those that are given; a new level replaces the old one.

        Raises ``InvalidArgument`` for terms that cannot be.
        """
        given = {name: value for name, value in terms.items() if value is not None}
        if given.keys() & {"epsilon", "share", "levels"}:
            given = {"epsilon": None, "share": None, "levels": None, **given}
        changed = replace(self, **given)
        changed.require_valid()
        return changed

    def require_valid(self) -> None:
        """Raise ``InvalidArgument`` for several levels, and for what is no level."""
        several = {"epsilon": self.epsilon, "share": self.share, "levels": self.levels}
        given = [name for name, value in several.items() if value is not None]
        if len(given) > 1:
            raise InvalidArgument(f"Give one of {' or '.join(given)}, not several.")
        for name in ("epsilon", "share"):
            if several[name] is not None:
                target_of(name, several[name])  # type: ignore[arg-type] # a number, or it raises
        if self.share is not None and self.share > 1:
            raise InvalidArgument(f"share is a part of each budget, at most 1, not {self.share}.")
        if self.levels is not None and not self.levels:
            raise InvalidArgument('levels are by tier: levels={"partner": 0.5}.')
        unknown = set(self.contribution or ()) - {*_CONTRIBUTION}
        if unknown:
            raise InvalidArgument(
                f"contribution has {' and '.join(_CONTRIBUTION)}, not {', '.join(sorted(unknown))}."
            )

    def body(self, me: Me) -> dict[str, object]:
        """Return the part of a request's body that has the terms, all but the name.

        Raises ``InvalidArgument`` without a level, and for an ``epsilon`` of somebody who has no
        clearance.
        """
        body: dict[str, object] = {"mechanism": self.mechanism}
        if self.contribution:
            body["contribution"] = dict(self.contribution)
        if self.share is not None:
            return {**body, "share": target_of("share", self.share)}
        if self.levels is not None:
            return {**body, "levels": {tier: _level(own) for tier, own in self.levels.items()}}
        if self.epsilon is None:
            raise NoLevel(
                "The question has no level yet: give epsilon= (at your clearance), share= (of each"
                " tier's budget) or levels= (by tier)."
            )
        if me.clearance is None:
            raise NoClearance(
                "epsilon= is the level at your clearance, and you have none; give levels= by tier,"
                f' for example levels={{"public": {self.epsilon:g}}}, or share=.'
            )
        return {**body, "levels": {me.clearance: _level(self.epsilon)}}


class NoLevel(InvalidArgument):
    """Report a question without a level, for something that takes one."""


class NoClearance(InvalidArgument):
    """Report a level at a clearance that the caller does not have."""


def _level(level: object) -> object:
    return (
        dict(level) if isinstance(level, Mapping) else {"epsilon": target_of("epsilon", level)}  # type: ignore[arg-type] # a number, or it raises
    )
