"""Signing in with the token of an OpenID provider (OpenID Connect Core 1.0; RFC 7519).

The operator names one issuer and the audience that its tokens for Penstock carry.  A token is
believed when it is signed by RS256 or ES256 under a key that the issuer publishes now, and
its issuer, audience and times are right.  One claim names the user, whom an admin has made
before; a token never makes a user, nor gives a role that the user does not have.

The issuer's keys are kept for ``FRESH`` seconds.  A key that is not among them is asked for
at most every ``PATIENCE`` seconds, so that tokens under made-up keys ask for nothing.
"""

import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from penstock.errors import IdentityUnavailable, InvalidInput

if TYPE_CHECKING:
    from joserfc.jwk import KeySet

ALGORITHMS = ("RS256", "ES256")
"""Both by public keys: a key that everybody knows must not do to sign with."""

FRESH = 600.0
PATIENCE = 10.0
LEEWAY = 30
"""Seconds by which the clocks of issuer and server may differ."""

LONGEST_TOKEN = 16_384
SMALLEST_RSA_KEY = 2048
SCOPE = "penstock:"
"""What stands before a role where a token's ``scope`` names the roles that it carries."""

_LONGEST_DOCUMENT = 1 << 20
_TIMEOUT = 3.0

Fetch = Callable[[str], bytes]


@dataclass(frozen=True)
class Identity:
    """Who a token speaks of, the roles it is limited to (``None``: no limit), and its end."""

    user: str
    roles: frozenset[str] | None
    expires: datetime


class Refused(Exception):
    """The token is not to be believed; why is not told to whoever sent it."""


class Issuer:
    """An OpenID provider, by its address.  ``fetch`` reads an address, ``clock`` is in seconds.

    Raises ``InvalidInput`` for an address that is neither https nor of this machine.
    """

    def __init__(
        self,
        address: str,
        audience: str,
        claim: str,
        fetch: Fetch | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._address = _secure(address)
        self._audience = audience
        self._claim = claim
        self._fetch = fetch or fetched
        self._clock = clock
        self._lock = threading.Lock()
        self._keys: KeySet | None = None
        self._read = -PATIENCE

    def identify(self, token: str, now: datetime) -> Identity:
        """Whom a token speaks of.

        Raises ``Refused`` whatever is wrong with it, and ``IdentityUnavailable`` where the
        issuer's keys are needed and cannot be read.
        """
        from joserfc import errors, jwt

        if len(token) > LONGEST_TOKEN or token.count(".") != 2:
            raise Refused
        rules = jwt.JWTClaimsRegistry(
            now=int(now.timestamp()),
            leeway=LEEWAY,
            iss={"essential": True, "value": self._address},
            aud={"essential": True, "value": self._audience},
            exp={"essential": True},
        )
        try:
            try:
                found = jwt.decode(token, self._known(), algorithms=list(ALGORITHMS))
            except errors.InvalidKeyIdError:
                found = jwt.decode(token, self._asked_again(), algorithms=list(ALGORITHMS))
            rules.validate(found.claims)
        except (errors.JoseError, ValueError) as problem:
            raise Refused from problem
        return self._identity(found.claims)

    def _identity(self, claims: Mapping[str, Any]) -> Identity:
        user, scope = claims.get(self._claim), claims.get("scope", "")
        if not isinstance(user, str) or not user or not isinstance(scope, str):
            raise Refused
        named = [word.removeprefix(SCOPE) for word in scope.split() if word.startswith(SCOPE)]
        try:
            expires = datetime.fromtimestamp(claims["exp"], UTC)
        except (OverflowError, ValueError, OSError) as problem:
            raise Refused from problem
        return Identity(user, frozenset(named) if named else None, expires)

    def _known(self) -> "KeySet":
        with self._lock:
            if self._keys is None or self._clock() - self._read > FRESH:
                return self._renewed()
            return self._keys

    def _asked_again(self) -> "KeySet":
        """The keys, read anew unless that was just done."""
        with self._lock:
            if self._keys is not None and self._clock() - self._read < PATIENCE:
                return self._keys
            return self._renewed()

    def _renewed(self) -> "KeySet":
        keys = self._published()
        self._keys, self._read = keys, self._clock()
        return keys

    def _published(self) -> "KeySet":
        from joserfc import errors
        from joserfc.jwk import KeySet

        about = self._document(self._address.rstrip("/") + "/.well-known/openid-configuration")
        if about.get("issuer") != self._address or not isinstance(about.get("jwks_uri"), str):
            raise self._unavailable("says of itself that it is another one")
        try:
            listed = self._document(_secure(about["jwks_uri"])).get("keys")
            usable = [key for key in listed if _is_usable(key)] if isinstance(listed, list) else []
            return KeySet.import_key_set({"keys": usable})
        except (errors.JoseError, InvalidInput, ValueError, TypeError) as problem:
            raise self._unavailable("publishes keys that cannot be read") from problem

    def _document(self, address: str) -> Mapping[str, Any]:
        try:
            found = json.loads(self._fetch(address))
        except (OSError, ValueError, RecursionError) as problem:
            raise self._unavailable("does not answer as it should") from problem
        if not isinstance(found, dict):
            raise self._unavailable("does not answer as it should")
        return found

    def _unavailable(self, what: str) -> IdentityUnavailable:
        return IdentityUnavailable(
            f"The identity provider of this server {what}, so that its tokens cannot be checked."
            " Sign in with a token of Penstock's own, or ask again in a moment."
        )


def _is_usable(key: object) -> bool:
    """A public key that signs by one of ``ALGORITHMS``; of the others nothing is read."""
    if not isinstance(key, dict) or key.get("use", "sig") != "sig" or not key.get("kid"):
        return False
    if key.get("kty") == "EC":
        return bool(key.get("crv") == "P-256")
    # Four characters of base64 are three bytes.
    long_enough = len(str(key.get("n", ""))) * 6 >= SMALLEST_RSA_KEY
    return bool(key.get("kty") == "RSA" and long_enough)


def _secure(address: str) -> str:
    parts = urlsplit(address)
    here = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1", "localhost")
    if not (here or (parts.scheme == "https" and parts.hostname)):
        raise InvalidInput(
            f"The identity provider's address {address!r} must begin with https://, or be of this"
            " machine."
        )
    return address


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """An answer that sends elsewhere is none: it could lead anywhere."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


def fetched(address: str) -> bytes:
    """The document at an address.  Raises ``OSError``."""
    opener = urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler({}))
    with opener.open(address, timeout=_TIMEOUT) as answer:
        found: bytes = answer.read(_LONGEST_DOCUMENT + 1)
    if len(found) > _LONGEST_DOCUMENT:
        raise OSError("the document is too long")
    return found
