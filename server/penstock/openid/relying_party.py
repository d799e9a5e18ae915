"""Sign people in at the issuer (OpenID Connect Core 1.0, 3.1: the authorization code flow).

Authlib makes the request with its challenge (RFC 7636, S256 alone) and redeems the code; the ID
token is verified like every other token of the issuer, and must carry this attempt's nonce.
"""

import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from penstock.errors import IdentityUnavailable
from penstock.nesting import shallow
from penstock.openid.issuer import Issuer, Refused
from penstock.openid.transport import posted

if TYPE_CHECKING:
    from authlib.oauth2.client import OAuth2Client

LONGEST_ID_TOKEN: Final = 131_072
"""Characters of an ID token: people may be in thousands of groups."""

LONGEST_SUBJECT: Final = 255
LONGEST_CODE: Final = 4096

LOGOUT_EVENT: Final = "http://schemas.openid.net/event/backchannel-logout"
LONGEST_NOTICE: Final = timedelta(hours=1)
"""Longest life of a logout token."""

_LOGOUT_TYPES: Final = frozenset({"jwt", "logout+jwt"})


@dataclass(frozen=True)
class Registration:
    """Hold how this server is registered with the issuer, and the claims that it reads.

    Without a ``secret`` it is a public client, which PKCE alone protects.
    """

    client_id: str
    secret: str
    redirect_uri: str
    scopes: str
    name_claim: str
    groups_claim: str


@dataclass(frozen=True)
class Attempt:
    """Hold the secrets of one attempt to sign in, which its browser keeps meanwhile."""

    state: str
    nonce: str
    verifier: str

    @classmethod
    def fresh(cls) -> "Attempt":
        """Return an attempt with new secrets."""
        return cls(secrets.token_urlsafe(32), secrets.token_urlsafe(32), secrets.token_urlsafe(48))


@dataclass(frozen=True)
class Account:
    """Hold who signed in at the issuer: the account, the user that it names, and its groups."""

    issuer: str
    subject: str
    user: str
    groups: frozenset[str]
    session: str | None


@dataclass(frozen=True)
class Notice:
    """Hold that an account's sessions end, or one of them; ``name`` is the notice's own."""

    issuer: str
    subject: str | None
    session: str | None
    name: str
    expires: datetime


class RelyingParty:
    """Send people to the issuer, and find out who came back."""

    def __init__(self, issuer: Issuer, registration: Registration) -> None:
        self._issuer = issuer
        self._registration = registration

    @property
    def issuer(self) -> str:
        """Return the issuer's address."""
        return self._issuer.address

    def address(self, attempt: Attempt) -> str:
        """Return the address at the issuer that begins an attempt.

        Raises ``IdentityUnavailable``, also if the issuer does not support the challenge.
        """
        methods = self._issuer.configuration().get("code_challenge_methods_supported", ["S256"])
        if "S256" not in methods:
            raise IdentityUnavailable(
                "The identity provider of this server does not support PKCE with S256, without"
                " which a stolen code could be redeemed. Sign in with a token issued by Penstock."
            )
        address, _ = self._client().create_authorization_url(
            self._issuer.endpoint("authorization_endpoint"),
            state=attempt.state,
            nonce=attempt.nonce,
            code_verifier=attempt.verifier,
        )
        return str(address)

    def redeem(self, answer: Mapping[str, str], attempt: Attempt, now: datetime) -> Account:
        """Return the account behind the issuer's ``answer``, the arguments of the redirect.

        Raises ``Refused`` for an answer that does not belong to the attempt, or whose code or
        token is not valid, and ``IdentityUnavailable`` if the issuer does not answer.
        """
        if not hmac.compare_digest(answer.get("state", "").encode(), attempt.state.encode()):
            raise Refused
        self._require_from_issuer(answer.get("iss"))
        code = answer.get("code", "")
        if not 0 < len(code) <= LONGEST_CODE:
            raise Refused
        token = self._redeemed(code, attempt.verifier)
        claims = self._issuer.claims(
            token,
            self._registration.client_id,
            now,
            longest=LONGEST_ID_TOKEN,
            nonce={"essential": True, "value": attempt.nonce},
            iat={"essential": True},
            sub={"essential": True},
        )
        return self._account(claims)

    def notice(self, token: str, now: datetime) -> Notice:
        """Return what a logout token says (OpenID Connect Back-Channel Logout 1.0, 2.6).

        Raises ``Refused`` for anything else, ID tokens included, and ``IdentityUnavailable``.
        """
        claims = self._issuer.claims(
            token,
            self._registration.client_id,
            now,
            types=_LOGOUT_TYPES,
            iat={"essential": True},
            jti={"essential": True},
        )
        events, name = claims.get("events"), claims.get("jti")
        subject, session = claims.get("sub"), claims.get("sid")
        if not isinstance(events, dict) or not isinstance(events.get(LOGOUT_EVENT), dict):
            raise Refused
        if "nonce" in claims or not _is_text(name, LONGEST_SUBJECT):
            raise Refused
        given = [each for each in (subject, session) if each is not None]
        if not given or not all(_is_text(each, LONGEST_SUBJECT) for each in given):
            raise Refused
        try:
            expires = datetime.fromtimestamp(claims["exp"], UTC)
        except (OverflowError, ValueError, OSError) as problem:
            raise Refused from problem
        if expires > now + LONGEST_NOTICE:
            raise Refused  # it would have to be remembered for as long
        return Notice(self._issuer.address, subject, session, str(name), expires)

    def _require_from_issuer(self, sent: str | None) -> None:
        """Refuse an answer of another issuer (RFC 9207)."""
        supported = "authorization_response_iss_parameter_supported"
        required = self._issuer.configuration().get(supported) is True
        if sent != self._issuer.address and (required or sent is not None):
            raise Refused

    def _redeemed(self, code: str, verifier: str) -> str:
        from authlib.common.errors import AuthlibBaseError

        try:
            answer = self._client().fetch_token(
                self._issuer.endpoint("token_endpoint"),
                grant_type="authorization_code",
                code=code,
                code_verifier=verifier,
            )
        except OSError as problem:
            raise IdentityUnavailable(
                "The identity provider of this server did not answer, so nobody was signed in."
                " Try again in a moment, or sign in with a token issued by Penstock."
            ) from problem
        except (AuthlibBaseError, ValueError, TypeError) as problem:
            raise Refused from problem
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise Refused
        return token

    def _account(self, claims: Mapping[str, Any]) -> Account:
        audience, party = claims.get("aud"), claims.get("azp")
        client_id = self._registration.client_id
        if party != client_id and (party is not None or (audience not in (client_id, [client_id]))):
            raise Refused  # made for another party as well
        subject, user = claims.get("sub"), claims.get(self._registration.name_claim)
        session = claims.get("sid")
        if not _is_text(subject, LONGEST_SUBJECT) or not _is_text(user, LONGEST_SUBJECT):
            raise Refused
        return Account(
            self._issuer.address,
            str(subject),
            str(user),
            _texts(claims.get(self._registration.groups_claim)),
            session if isinstance(session, str) else None,
        )

    def _client(self) -> "OAuth2Client":
        from authlib.oauth2.client import OAuth2Client

        registration = self._registration
        supported = self._issuer.configuration().get("token_endpoint_auth_methods_supported")
        method = "client_secret_basic" if registration.secret else "none"
        if registration.secret and supported == ["client_secret_post"]:
            method = "client_secret_post"
        return OAuth2Client(
            _Session(),
            client_id=registration.client_id,
            client_secret=registration.secret or None,
            token_endpoint_auth_method=method,
            scope=registration.scopes,
            redirect_uri=registration.redirect_uri,
            code_challenge_method="S256",
        )


class _Session:
    """Send what Authlib sends, within the bounds of ``transport``."""

    def post(
        self, address: str, data: Mapping[str, str], headers: Mapping[str, str], auth: Any
    ) -> "_Answer":
        address, sent, body = auth.prepare("POST", address, dict(headers), urlencode(data))
        return _Answer(*posted(address, body, sent))


@dataclass(frozen=True)
class _Answer:
    """Hold an answer as Authlib reads it."""

    status_code: int
    content: bytes

    def json(self) -> Any:
        return json.loads(shallow(self.content.decode("utf-8-sig")))

    def raise_for_status(self) -> None:
        if self.status_code >= 400:
            raise OSError(f"HTTP {self.status_code}")


def _is_text(value: object, longest: int) -> bool:
    return isinstance(value, str) and 0 < len(value) <= longest and value.isprintable()


def _texts(value: object) -> frozenset[str]:
    """Return the groups of a claim: a list of texts, or one text; anything else is none."""
    listed: Sequence[object] = [value] if isinstance(value, str) else []
    if isinstance(value, list):
        listed = value
    return frozenset(group for group in listed if isinstance(group, str))
