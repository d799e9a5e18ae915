"""Try a connection to a store, for the command that checks connections."""

from itertools import islice
from typing import Final

from penstock.connectors.storage.access import HttpAccess, access_of
from penstock.connectors.storage.address import SCHEMES, Address
from penstock.connectors.storage.failures import Missing
from penstock.connectors.storage.stores.bucket import opened
from penstock.errors import InvalidInput

UNTRIED: Final = "its setting names no buckets to try"


def check(secret: str) -> tuple[str, str]:
    """List the first object of every bucket that a connection names, and ask the engine.

    Returns the store with what was tried, and how the engine answered the questions with known
    answers.  Raises ``InvalidInput`` for a setting that describes no store or a bucket that is not
    there, ``Unavailable`` for a store that does not answer or refuses the credentials.
    """
    from penstock.connectors.duckdb.conformance import require_conformance

    access = access_of(secret, "")
    if isinstance(access, HttpAccess):
        tried = f"hosts {', '.join(access.hosts)}, of which none is asked for a file"
    else:
        scheme = next(scheme for scheme, kind in SCHEMES.items() if kind == access.store)
        for bucket in access.buckets or ():
            try:
                list(islice(opened(access, Address(scheme, bucket, "")).under(""), 1))
            except Missing:
                raise InvalidInput(f"There is no bucket {bucket!r} that it may list.") from None
        tried = ", ".join(access.buckets) if access.buckets else UNTRIED
    require_conformance("stream")
    return f"{access.store} ({tried})", "passed"
