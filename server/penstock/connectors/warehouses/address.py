"""Read the address of a connection; whatever is wrong with it, it is not repeated."""

from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from penstock.connectors.connections import AT
from penstock.errors import InvalidInput


@dataclass(frozen=True)
class Address:
    """Hold the parts of an address, unescaped.  ``repr`` has no password and no options."""

    host: str
    port: int | None
    user: str
    path: tuple[str, ...]
    password: str | None
    options: dict[str, str]

    def __repr__(self) -> str:
        return f"Address({self.host!r})"


def address_of(
    secret: str, scheme: str, form: str, options: frozenset[str] = frozenset()
) -> Address:
    """Return the parts of an address with ``scheme``; ``form`` is how it should look.

    Raises ``InvalidInput`` for another form, and for options that are not in ``options``.
    """
    try:
        parts = urlsplit(secret)
        given = dict(
            parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        )
        read = parts.scheme == scheme and bool(parts.hostname) and set(given) <= options
        port = parts.port
    except ValueError:
        read = False
    if not read:
        raise InvalidInput(
            f"The connection's address cannot be read; it is like {form}, with %-escapes in its"
            " parts.",
            pointer=AT,
        )
    return Address(
        host=parts.hostname or "",
        port=port,
        user=unquote(parts.username or ""),
        path=tuple(unquote(part) for part in parts.path.split("/") if part),
        password=None if parts.password is None else unquote(parts.password),
        options=given,
    )
