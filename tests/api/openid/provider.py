"""Provide a small OpenID provider on this machine, whose keys and documents a test decides."""

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, RSAKey
from tests.api.world import START, World

AUDIENCE = "penstock-tests"
NOW = int(START.timestamp())


@dataclass
class Provider:
    """Hold its keys by name, those ``published``, and in ``asked`` how many readers there were."""

    address: str = ""
    keys: dict[str, RSAKey | ECKey] = field(default_factory=dict)
    published: set[str] = field(default_factory=set)
    asked: int = 0
    issuer: str | None = None
    more: list[dict[str, Any]] = field(default_factory=list)
    broken: bytes | None = None
    about: dict[str, Any] = field(default_factory=dict)
    grants: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    """By code, the challenge that it is redeemed for, and the claims of its ID token."""
    forms: list[dict[str, str]] = field(default_factory=list)
    """What was sent to redeem codes."""
    sent: bytes | None = None
    """What is answered to every code instead of a token."""

    def add(self, name: str, key: RSAKey | ECKey) -> None:
        """Add a new key, shown from now on."""
        self.keys[name] = key
        self.published.add(name)

    def token(self, name: str, claims: dict[str, Any], **header: Any) -> str:
        """Return a token signed by the key called ``name``."""
        key = self.keys[name]
        algorithm = "RS256" if isinstance(key, RSAKey) else "ES256"
        return jwt.encode({"alg": algorithm, "kid": name, **header}, claims, key)

    def document(self, path: str) -> bytes | None:
        """Return what stands at a path."""
        if self.broken is not None:
            return self.broken
        if path == "/.well-known/openid-configuration":
            about = {
                "issuer": self.issuer or self.address,
                "jwks_uri": self.address + "/keys",
                "authorization_endpoint": self.address + "/authorize",
                "token_endpoint": self.address + "/token",
            }
            return json.dumps({**about, **self.about}).encode()
        if path == "/keys":
            self.asked += 1
            shown = KeySet([self.keys[name] for name in sorted(self.published)])
            found = shown.as_dict(private=False)["keys"]
            return json.dumps({"keys": [*found, *self.more]}).encode()
        return None

    def grant(self, address: str, said: dict[str, Any]) -> dict[str, str]:
        """Return the answer to a sign-in that was sent here: a code for a token with these claims.

        The token has the attempt's nonce unless they have another, or none.
        """
        asked = {name: texts[0] for name, texts in parse_qs(urlsplit(address).query).items()}
        code = f"code {len(self.grants)}"
        kept = {"nonce": asked["nonce"], **said}
        given = {name: value for name, value in kept.items() if value is not None}
        self.grants[code] = asked["code_challenge"], given
        return {"code": code, "state": asked["state"]}

    def redeemed(self, form: dict[str, str]) -> tuple[int, bytes]:
        """Return what a code is redeemed for, once, with the verifier of its challenge."""
        self.forms.append(form)
        if self.sent is not None:
            return 200, self.sent
        challenge, said = self.grants.pop(form.get("code", ""), ("", {}))
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if not said or part(digest) != challenge:
            return 400, b'{"error": "invalid_grant"}'
        token = self.token("rsa", said)
        answer = {"access_token": "x", "token_type": "Bearer", "expires_in": 60, "id_token": token}
        return 200, json.dumps(answer).encode()


def rsa(name: str, bits: int = 2048) -> RSAKey:
    """Return a new RSA key."""
    return RSAKey.generate_key(bits, parameters={"kid": name})


def ec(name: str, curve: str = "P-256") -> ECKey:
    """Return a new key on a curve."""
    return ECKey.generate_key(curve, parameters={"kid": name})


@contextmanager
def serving() -> Iterator[Provider]:
    """Yield a provider that answers on loopback until the end."""
    provider = Provider()

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = provider.document(self.path)
            self.send_response(200 if content is not None else 404)
            self.end_headers()
            self.wfile.write(content or b"")

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: texts[0] for name, texts in parse_qs(content).items()}
            status, answer = provider.redeemed(form)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    provider.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def claims(provider: Provider, **changes: Any) -> dict[str, Any]:
    """Return what a good token says of root; a change to None leaves a claim out."""
    usual = {"iss": provider.address, "aud": AUDIENCE, "sub": "root", "exp": NOW + 600}
    return {name: value for name, value in {**usual, **changes}.items() if value is not None}


def part(content: object) -> str:
    """Return a part of a compact token: bytes as they are, anything else as JSON."""
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def status(world: World, token: str) -> int:
    """Return what the server says to a request with ``token``."""
    answer = world.client.get("/api/v1/me", headers={"Authorization": f"Bearer {token}"})
    return int(answer.status_code)
