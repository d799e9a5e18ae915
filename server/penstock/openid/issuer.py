"""Sign in with the token of an OpenID provider (OpenID Connect Core 1.0; RFC 7519).

The operator names one issuer and the audience that its tokens for Penstock carry.  A token is
accepted if it is signed by RS256 or ES256 under a key that the issuer publishes now, and
its issuer, audience and times are right.  One claim names the user, whom an admin created
before; a token never creates a user, nor grants a role that the user does not have.

The issuer's keys are kept for ``FRESH`` seconds.  An unknown key causes at most one
fetch every ``PATIENCE`` seconds, so that tokens with made-up key ids cannot flood the issuer; an
issuer that failed is not asked again for as long.  Tokens whose key is known do not wait.
"""

import json
import math
import threading
import time
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from penstock.errors import IdentityUnavailable, InvalidInput
from penstock.nesting import shallow
from penstock.openid.transport import fetched

if TYPE_CHECKING:
    from joserfc import jwt
    from joserfc.jwk import ECKey, KeySet, RSAKey

ALGORITHMS = ("RS256", "ES256")
"""Asymmetric algorithms only: under an HMAC, a published key would suffice to sign."""

FRESH = 600.0
PATIENCE = 10.0
LEEWAY = 30
"""Largest difference between the clocks of issuer and server, in seconds."""

LONGEST_TOKEN = 16_384
SMALLEST_RSA_KEY = 2048
SCOPE = "penstock:"
"""Prefix of a role in a token's ``scope``."""

TYPES = frozenset({"jwt", "at+jwt"})
"""Accepted values of the ``typ`` header (RFC 8725, 3.11); a logout token is refused."""

_TURN = 1.0
"""Longest wait of a token with an unknown key for a fetch that already runs, in seconds."""

Fetch = Callable[[str], bytes]


@dataclass(frozen=True)
class Identity:
    """Hold a token's account and user, its roles (``None``: no limit), and its end."""

    subject: str | None
    user: str
    roles: frozenset[str] | None
    expires: datetime


class Refused(Exception):
    """Report a token that is refused; the sender is not told the reason."""


@dataclass(frozen=True)
class Published:
    """Hold what an issuer publishes: its configuration, and the keys that it signs under."""

    about: Mapping[str, Any]
    keys: "KeySet"


class Issuer:
    """Verify the tokens of one OpenID provider.

    ``fetch`` reads an address; ``clock`` is in seconds.

    Raises ``InvalidInput`` if the address is neither https nor a loopback address.
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
        self._read: tuple[Published, float] | None = None  # and when it was read
        self._failed = -math.inf

    @property
    def address(self) -> str:
        """Return the issuer's address, which its tokens name."""
        return self._address

    def identify(self, token: str, now: datetime) -> Identity:
        """Return the identity that a token proves.

        Raises ``Refused`` for every invalid token, and ``IdentityUnavailable`` if the issuer's
        keys are needed and cannot be read.
        """
        return self._identity(self.claims(token, self._audience, now))

    def claims(
        self,
        token: str,
        audience: str,
        now: datetime,
        types: frozenset[str] = TYPES,
        longest: int = LONGEST_TOKEN,
        **rules: Any,
    ) -> Mapping[str, Any]:
        """Return the claims of a token for ``audience``; ``rules`` are further ones of joserfc.

        Raises as ``identify`` does.
        """
        from joserfc import errors, jwt

        if len(token) > longest or token.count(".") != 2:
            raise Refused
        registry = jwt.JWTClaimsRegistry(
            now=int(now.timestamp()),
            leeway=LEEWAY,
            iss={"essential": True, "value": self._address},
            aud={"essential": True, "value": audience},
            exp={"essential": True},
            **rules,
        )
        try:
            try:
                claims = _verified(token, self._known().keys)
            except errors.InvalidKeyIdError:
                claims = _verified(token, self._refetched().keys)
            registry.validate(claims.claims)
        except (errors.JoseError, ValueError) as problem:
            raise Refused from problem
        if claims.header.get("typ", "JWT").lower().removeprefix("application/") not in types:
            raise Refused
        verified: Mapping[str, Any] = claims.claims
        return verified

    def configuration(self) -> Mapping[str, Any]:
        """Return what the issuer publishes about itself.  Raises ``IdentityUnavailable``."""
        return self._known().about

    def endpoint(self, name: str) -> str:
        """Return the address of one of its endpoints.  Raises ``IdentityUnavailable``."""
        address = self.configuration().get(name)
        if not isinstance(address, str):
            raise self._unavailable(f"publishes no {name}")
        try:
            return _secure(address)
        except InvalidInput as problem:
            raise self._unavailable(f"publishes a {name} without https") from problem

    def _identity(self, claims: Mapping[str, Any]) -> Identity:
        user, scope = claims.get(self._claim), claims.get("scope", "")
        if not isinstance(user, str) or not user.isprintable() or not isinstance(scope, str):
            raise Refused  # not a valid user name, and some databases cannot store it
        named = [word.removeprefix(SCOPE) for word in scope.split() if word.startswith(SCOPE)]
        try:
            expires = datetime.fromtimestamp(claims["exp"], UTC)
        except (OverflowError, ValueError, OSError) as problem:
            raise Refused from problem
        subject = claims.get("sub")
        account = subject if isinstance(subject, str) else None
        return Identity(account, user, frozenset(named) if named else None, expires)

    def _known(self) -> Published:
        fresh = self._fresh()
        if fresh is not None:
            return fresh
        with self._lock:
            return self._fresh() or self._renewed()

    def _fresh(self) -> Published | None:
        known = self._read
        return known[0] if known is not None and self._clock() - known[1] <= FRESH else None

    def _refetched(self) -> Published:
        """Fetch and return what is published, or what was less than ``PATIENCE`` seconds ago."""
        if not self._lock.acquire(timeout=_TURN):
            raise self._unavailable("is still being asked for its keys")
        try:
            if self._read is not None and self._clock() - self._read[1] < PATIENCE:
                return self._read[0]
            return self._renewed()
        finally:
            self._lock.release()

    def _renewed(self) -> Published:
        if self._clock() - self._failed < PATIENCE:
            raise self._unavailable("failed to send valid documents a moment ago")
        try:
            published = self._published()
        except IdentityUnavailable:
            self._failed = self._clock()
            raise
        self._read = published, self._clock()
        return published

    def _published(self) -> Published:
        from joserfc.jwk import KeySet

        about = self._document(self._address.rstrip("/") + "/.well-known/openid-configuration")
        if about.get("issuer") != self._address or not isinstance(about.get("jwks_uri"), str):
            raise self._unavailable("publishes a configuration that does not fit it")
        try:
            listed = self._document(_secure(about["jwks_uri"])).get("keys")
        except InvalidInput as problem:
            raise self._unavailable("publishes its keys without https") from problem
        if not isinstance(listed, list):
            raise self._unavailable("publishes a key document without a list of keys")
        usable = KeySet([key for entry in listed if (key := _usable(entry)) is not None])
        return Published(about, usable)

    def _document(self, address: str) -> Mapping[str, Any]:
        try:
            document = json.loads(shallow(self._fetch(address).decode("utf-8-sig")))
        except (OSError, ValueError) as problem:
            raise self._unavailable("did not send a valid document") from problem
        if not isinstance(document, dict):
            raise self._unavailable("did not send a valid document")
        return document

    def _unavailable(self, what: str) -> IdentityUnavailable:
        return IdentityUnavailable(
            f"The identity provider of this server {what}, so its tokens cannot be checked."
            " Sign in with a token issued by Penstock, or try again in a moment."
        )


def _verified(token: str, keys: "KeySet") -> "jwt.Token":
    """Return the decoded token if one of ``keys`` signed it.  Raises the errors of joserfc."""
    from joserfc import jwt

    shallow(urlsafe_b64decode(token.split(".")[1] + "==").decode())
    try:
        return jwt.decode(token, keys, algorithms=list(ALGORITHMS))
    except (TypeError, RecursionError) as problem:
        # Raised for headers of wrong types, and for claims in UTF-16, whose brackets ``shallow``
        # cannot count.
        raise Refused from problem


def _usable(key: object) -> "RSAKey | ECKey | None":
    """Return the public key if it fits one of ``ALGORITHMS``, else None; other keys stay usable."""
    from joserfc import errors
    from joserfc.jwk import ECKey, RSAKey

    if not isinstance(key, dict) or key.get("use", "sig") != "sig" or not key.get("kid"):
        return None
    # Four characters of base64 are three bytes; joserfc warns about shorter keys.
    if key.get("kty") == "RSA" and len(str(key.get("n", ""))) * 6 < SMALLEST_RSA_KEY:
        return None
    family: type[RSAKey | ECKey] = ECKey if key.get("kty") == "EC" else RSAKey
    try:
        imported = family.import_key(key)
    except (errors.JoseError, ValueError, TypeError):
        return None
    if isinstance(imported, RSAKey):
        return imported if imported.public_key.key_size >= SMALLEST_RSA_KEY else None
    return imported if imported.curve_name == "P-256" else None


def _secure(address: str) -> str:
    parts = urlsplit(address)
    here = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1", "localhost")
    if not (here or (parts.scheme == "https" and parts.hostname)):
        raise InvalidInput(
            f"The identity provider's address {address!r} must begin with https://, or be a"
            " loopback address of this machine."
        )
    return address
