"""Say why a store did not answer, in words of our own.

What libraries and stores write may hold an address that is signed, a header or a cell, so that none
of it is passed on: of an error its class is read, and the number of its HTTP status.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from penstock.connectors.storage.address import AT
from penstock.errors import InvalidInput, PenstockError, SourceChanged, Unavailable

_STATUS: Final = re.compile(r"status code ?:? ?([1-5][0-9]{2})\b")
_LAYOUT: Final = re.compile(r"(?:\x1b\[[0-9;]*m|[↳│╰├─\s])+")
"""What the library of Delta puts between the words of an error to lay it out."""

_NOTHING: Final = "Nothing was released; ask again later."


class Missing(PenstockError):
    """Report an object, a bucket or a version that is not there; who reads it says what follows."""


class Replaced(PenstockError):
    """Report an object that is not the one whose entity tag was asked for."""


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Raise the project's errors instead of the library's; ``where`` is the store, for people."""
    from obstore.exceptions import BaseError

    try:
        yield
    except (BaseError, OSError, ValueError) as problem:
        raise failure(problem, where) from None


def failure(problem: Exception, where: str) -> PenstockError:
    """Return the error to be raised for one of a library's."""
    status = _status(problem)
    kind = type(problem).__name__
    if isinstance(problem, FileNotFoundError) or status == 404:
        return Missing("It is not there.")
    if kind == "PreconditionError" or status == 412:
        return Replaced("It was replaced.")
    if kind in {"PermissionDeniedError", "UnauthenticatedError"} or status in {401, 403}:
        return Unavailable(
            f"{where} refuses the connection's credentials"
            f"{'' if status is None else f' ({status})'}: they are wrong or expired, or may not"
            f" list and read these objects. {_NOTHING}"
        )
    if status is not None:
        return Unavailable(f"{where} answers with the status {status}. {_NOTHING}")
    return Unavailable(f"{where} cannot be reached, or does not answer in time. {_NOTHING}")


def missing(what: str) -> InvalidInput:
    """Return the error of a request that names something that is not there."""
    return InvalidInput(what, pointer=AT)


def changed(what: str) -> SourceChanged:
    """Return the error of a registered dataset that is not there any more as it was."""
    return SourceChanged(
        f"{what} Nothing was released. Put the registered objects back, or register what is there"
        " now as a new version of the dataset."
    )


def _status(problem: Exception) -> int | None:
    match = _STATUS.search(_LAYOUT.sub(" ", str(problem)))
    return None if match is None else int(match[1])
