"""Refuse settings that cannot work, or that exclude each other."""

import re
from typing import Final
from urllib.parse import urlsplit

from penstock.errors import InvalidInput
from penstock.settings import Settings

SHORTEST_METRICS_TOKEN: Final = 16
SHORTEST_WEBHOOK_SECRET: Final = 32
WEBHOOK_EVENTS: Final = (
    *("request.opened", "request.decided", "proposal.opened"),
    *("budget.raised", "clearance.raised", "dataset.shredded"),
    *("server.suspended", "server.resumed"),
)
"""The kinds of events that a webhook may be told of."""

_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
_IN_A_BUCKET: Final = re.compile(r"s3://[A-Za-z0-9.-]+/[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*")


def _require_address(url: str) -> None:
    """Raise ``InvalidInput`` if links cannot be built from the public address."""
    try:
        parts = urlsplit(url)
        port_read = parts.port is None or parts.port > 0
    except ValueError:
        port_read = False
    odd = (
        not port_read or url != "".join(url.split()) or not url.isprintable() or "//" in parts.path
    )
    whole = not odd and parts.scheme in {"http", "https"} and bool(parts.hostname)
    if not whole or parts.query or parts.fragment or "@" in parts.netloc:
        raise InvalidInput(
            f"The setting public_url is {url!r}; it must be an address as readers type it, with"
            " http:// or https:// and a host, without a query: https://example.org/penstock."
        )


def _require_webhook(url: str, secret: str) -> None:
    """Raise ``InvalidInput``, without either, if messages cannot be sent and signed."""
    try:
        parts = urlsplit(url)
        usable = parts.port is None or parts.port > 0
    except ValueError:
        usable = False
    whole = usable and url.isascii() and url.isprintable() and " " not in url
    near = whole and parts.scheme == "http" and parts.hostname in _LOOPBACK
    secure = whole and parts.scheme == "https" and bool(parts.hostname)
    if not (near or secure) or parts.fragment or "@" in parts.netloc:
        raise InvalidInput(
            "The setting webhook_url must begin with https:// and a host, or be a loopback address"
            " of this machine; ASCII without spaces, user or fragment."
        )
    secrets = secret.splitlines()
    if not secrets or min(len(line) for line in secrets) < SHORTEST_WEBHOOK_SECRET:
        raise InvalidInput(
            f"The setting webhook_url needs webhook_secret, with {SHORTEST_WEBHOOK_SECRET}"
            " characters or more in each line; make one with `openssl rand -hex 32`."
        )


def _require_events(events: str) -> None:
    """Raise ``InvalidInput`` if a webhook is told of nothing, or of an unknown kind."""
    named = events.split()
    unknown = sorted(set(named).difference(WEBHOOK_EVENTS))
    if unknown or not named:
        problem = f"names {unknown[0]!r}, which is no kind" if unknown else "is empty"
        raise InvalidInput(
            f"The setting webhook_events {problem}; it must have some of these, separated by"
            f" spaces: {' '.join(WEBHOOK_EVENTS)}."
        )


def _require_collector(url: str) -> None:
    """Raise ``InvalidInput``, without the address, if traces cannot be sent there."""
    try:
        parts = urlsplit(url)
        usable = parts.port is None or parts.port > 0
    except ValueError:
        usable = False
    whole = usable and url.isascii() and url.isprintable() and " " not in url
    whole = whole and parts.scheme in {"http", "https"} and bool(parts.hostname)
    whole = whole and len(parts.path) > 1  # the library adds none, and "/" is no collector's
    if not whole or parts.query or parts.fragment or "@" in parts.netloc:
        raise InvalidInput(
            "The setting traces_url must be the address where a collector takes OTLP over HTTP,"
            " with its path and without user, query or fragment:"
            " https://collector.example.org:4318/v1/traces."
        )


def _require_sign_on(settings: Settings) -> None:
    """Raise ``InvalidInput`` if sign-in at the provider is set in part."""
    if settings.oidc_client_id and not settings.oidc_issuer:
        raise InvalidInput(
            "The setting oidc_client_id needs oidc_issuer: the provider where people sign in."
        )
    if settings.oidc_client_id and "openid" not in settings.oidc_scopes.split():
        raise InvalidInput(
            f"The setting oidc_scopes is {settings.oidc_scopes!r}; it must have the scope openid,"
            " without which the provider sends no ID token."
        )
    if settings.oidc_create_users and not (settings.oidc_client_id and settings.oidc_groups_claim):
        raise InvalidInput(
            "The setting oidc_create_users needs oidc_client_id and oidc_groups_claim: groups"
            " decide what a new user may do."
        )


def check(settings: Settings) -> None:
    """Raise ``InvalidInput`` for a value that cannot work, or settings that exclude each other."""
    _require_address(settings.public_url)
    if settings.key_provider not in ("keyring", "pkcs11"):
        raise InvalidInput(
            f"The setting key_provider is {settings.key_provider!r}; it must be keyring or pkcs11."
        )
    if settings.key_provider == "pkcs11" and not (settings.pkcs11_module and settings.pkcs11_token):
        raise InvalidInput(
            "The key provider pkcs11 needs the settings pkcs11_module and pkcs11_token."
        )
    if settings.replicas not in ("required", "none"):
        raise InvalidInput(
            f"The setting replicas is {settings.replicas!r}; it must be required or none."
        )
    if settings.witness_bucket and not _IN_A_BUCKET.fullmatch(settings.witness_bucket):
        raise InvalidInput(
            f"The setting witness_bucket is {settings.witness_bucket!r}; it must name a bucket and"
            " a prefix in it: s3://BUCKET/PREFIX."
        )
    if settings.oidc_issuer and not (settings.oidc_audience and settings.oidc_claim):
        raise InvalidInput(
            "The setting oidc_issuer needs oidc_audience and oidc_claim: a token that was made for"
            " another server must not be accepted."
        )
    _require_sign_on(settings)
    if settings.log_level.upper() not in ("DEBUG", "INFO", "WARNING", "ERROR"):
        raise InvalidInput(
            f"The setting log_level is {settings.log_level!r};"
            " it must be DEBUG, INFO, WARNING or ERROR."
        )
    if settings.traces_url:
        _require_collector(settings.traces_url)
    if settings.webhook_url:
        _require_webhook(settings.webhook_url, settings.webhook_secret)
        _require_events(settings.webhook_events)
    token = settings.metrics_token
    if token and (len(token) < SHORTEST_METRICS_TOKEN or not token.isascii() or " " in token):
        raise InvalidInput(
            f"The setting metrics_token must have {SHORTEST_METRICS_TOKEN} characters or more,"
            " ASCII without spaces; make one with `openssl rand -hex 32`."
        )
