"""Reach the objects of a witness in a bucket of S3: name, read and add them, and see their locks.

Objects have numbers, and are added only where there is none.  Locks are seen in the headers of
signed requests, which the library makes no other use of: so what is checked is what an object got,
and not what the bucket's settings say.  Nothing of the library's messages is passed on.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from http.client import HTTPMessage

    from obstore.store import S3Store

PAGE: Final = 1000
"""The most names that one request lists."""

_DIGITS: Final = 20
_SUFFIX: Final = ".json"
_FORBIDDEN: Final = "403 Forbidden"
_REFUSED: Final = "refuses access (403): check its policy and the connection's credentials"
_SIGNED: Final = timedelta(minutes=5)


class Unreachable(Exception):
    """Report what a bucket refused; its message begins with a verb."""


class Name(NamedTuple):
    """Hold the number of an object, and the tag of its content."""

    number: int
    tag: str | None


@dataclass(frozen=True)
class Lock:
    """Hold how an object is locked; ``is_deleted`` means that a mark hides a locked one."""

    mode: str
    until: datetime | None
    is_deleted: bool


class Bucket:
    """Hold the objects below a prefix of a bucket.

    ``options`` are those of the library's ``S3Store``, and ``allow_http``; ``patience`` bounds each
    request, in seconds.  Methods raise ``Unreachable``.
    """

    def __init__(
        self, bucket: str, prefix: str, options: Mapping[str, Any], patience: float
    ) -> None:
        self.place = f"s3://{bucket}/{prefix}"
        self._prefix = f"{prefix}/"
        self._bucket, self._options, self._patience = bucket, options, patience
        self._opened: S3Store | None = None

    def after(self, number: int) -> list[Name]:
        """Return the objects with the next higher numbers, a page at most, in their order."""
        import obstore

        with _translated():
            pages = obstore.list(
                self._store(), self._prefix, offset=self._path(number), chunk_size=PAGE
            )
            first = next(iter(pages), ())
        names = [Name(_number(item["path"]), item["e_tag"]) for item in first]
        if [self._path(name.number) for name in names] != [item["path"] for item in first]:
            # Names that are not counted could fill a page, and hide all that comes after it.
            raise Unreachable("has objects that no server wrote beside its records")
        return names

    def read(self, number: int) -> bytes:
        """Return the content of an object."""
        import obstore

        with _translated():
            return bytes(obstore.get(self._store(), self._path(number)).bytes())

    def create(self, number: int, content: bytes) -> Name | None:
        """Store a new object durably; return None, and store nothing, if there is one already."""
        import obstore
        from obstore.exceptions import AlreadyExistsError

        with _translated():
            try:
                done = obstore.put(
                    self._store(), self._path(number), content, mode="create", use_multipart=False
                )
            except AlreadyExistsError:
                return None
        return Name(number, done["e_tag"])

    def lock(self, number: int) -> Lock:
        """Return how an object is locked, there or not."""
        import obstore

        with _translated():
            url = obstore.sign(self._store(), "HEAD", self._path(number), _SIGNED)
            headers = _head(url, self._patience)
        until = headers.get("x-amz-object-lock-retain-until-date")
        return Lock(
            mode=(headers.get("x-amz-object-lock-mode") or "").upper(),
            until=datetime.fromisoformat(until) if until else None,
            is_deleted=(headers.get("x-amz-delete-marker") or "").lower() == "true",
        )

    def _path(self, number: int) -> str:
        return f"{self._prefix}{number:0{_DIGITS}d}{_SUFFIX}"

    def _store(self) -> "S3Store":
        if self._opened is None:
            from obstore.store import S3Store

            options = dict(self._options)
            allow_http = options.pop("allow_http", False)
            longest = timedelta(seconds=self._patience)
            self._opened = S3Store(
                self._bucket,
                **{
                    "checksum_algorithm": "SHA256",  # required for objects that get a lock
                    "client_options": {
                        "timeout": longest,
                        "connect_timeout": longest,
                        "allow_http": allow_http,
                    },
                    "retry_config": {"max_retries": 1, "retry_timeout": longest},
                    **options,
                },
            )
        return self._opened


def _number(path: str) -> int:
    """Return the number of an object, 0 for one that no server wrote."""
    digits = path.rpartition("/")[2].removesuffix(_SUFFIX)
    is_ours = len(digits) == _DIGITS and digits.isascii() and digits.isdigit()
    return int(digits) if is_ours else 0


def _head(url: str, patience: float) -> "HTTPMessage":
    """Return the headers of a signed request for an object, whether it is there or not."""
    from http.client import HTTPConnection, HTTPSConnection

    parts = urlsplit(url)
    kinds: dict[str, Callable[..., HTTPConnection]] = {
        "http": HTTPConnection,
        "https": HTTPSConnection,
    }
    connection = kinds[parts.scheme](parts.netloc, timeout=patience)
    try:
        connection.request("HEAD", f"{parts.path}?{parts.query}")
        answer = connection.getresponse()
        if answer.status not in (200, 404, 405):  # 405: the newest version is a mark
            raise Unreachable(f"refuses to say how its objects are locked ({answer.status})")
        return answer.headers
    finally:
        connection.close()


@contextmanager
def _translated() -> Iterator[None]:
    """Translate the library's errors, which may quote addresses, into ``Unreachable``."""
    from http.client import HTTPException

    from obstore import exceptions

    try:
        yield
    except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError):
        what = _REFUSED
    except exceptions.NotFoundError:
        what = "has no such bucket or object"
    except (exceptions.BaseError, OSError, HTTPException) as problem:
        # A list that is refused is an error like any other.
        is_refused = _FORBIDDEN in str(problem)
        what = _REFUSED if is_refused else "cannot be reached, or answers with an error"
    else:
        return
    raise Unreachable(what)
