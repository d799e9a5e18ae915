"""Say in one word what has become of a token."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from penstock.services.overviews.duties import ENDING_DAYS
from penstock.services.schemas.people.views import TokenView


def with_states(tokens: Sequence[TokenView], now: datetime) -> list[tuple[TokenView, str]]:
    """Return the tokens, the last one first, each with its state.

    It is ``revoked``, ``ended``, ``ends soon`` or ``active``.
    """
    return [(token, _state(token, now)) for token in reversed(tokens)]


def _state(token: TokenView, now: datetime) -> str:
    if token.revoked:
        return "revoked"
    if token.expires <= now:
        return "ended"
    return "ends soon" if token.expires - now < timedelta(days=ENDING_DAYS) else "active"
