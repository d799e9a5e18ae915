"""Hold what is estimated from the values of a release for moments or a regression."""

from dataclasses import dataclass
from typing import Self

from penstock_client._http.fields import Fields, Key


@dataclass(frozen=True)
class Estimate:
    """Hold a statistic of the group ``key``, with its interval at the release's confidence.

    ``name`` is such as ``mean:age`` or ``coefficient:age``; ``key`` is None without groups.
    ``interval`` is ``noise`` if it is about the rows in the data, and ``population`` if about what
    they are a sample of.  The numbers are None where the noise of the level is too large for any.
    """

    name: str
    key: Key | None
    value: float | None
    lower: float | None
    upper: float | None
    standard_deviation: float | None
    interval: str

    @classmethod
    def read_all(cls, fields: Fields) -> tuple[Self, ...]:
        """Return the estimates of a release; none from a server that has none."""
        if fields.whole.get("estimates") is None:
            return ()
        return tuple(
            cls(
                each.text("name"),
                each.key_or_none("key"),
                each.number_or_none("value"),
                each.number_or_none("lower"),
                each.number_or_none("upper"),
                each.number_or_none("standard_deviation"),
                each.text("interval"),
            )
            for each in fields.children("estimates")
        )
