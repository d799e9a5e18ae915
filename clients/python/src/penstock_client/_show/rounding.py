"""Format numbers and texts for people, beside what ``figures`` has for both server and client.

What programs read is never rounded.
"""

from penstock_client.figures import PLAIN_BELOW, fixed


def short(value: float | None, digits: int = 3) -> str:
    """Return ``value`` to ``digits`` significant digits, with commas at thousands.

    Numbers below 1e15 with more digits before the point keep all of those; None is ∞.
    """
    if value is None:
        return "∞"
    if abs(value) >= 10**digits and abs(value) < PLAIN_BELOW:
        return fixed(value, 0)
    return f"{value:,.{digits}g}"


def percent(fraction: float) -> str:
    """Return a fraction as a percentage, with up to eight significant digits."""
    return f"{100 * fraction:.8g}%"
