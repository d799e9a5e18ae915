"""Test sign-ins at the provider that are not what they should be: nobody gets a session."""

import base64
import hmac
import json
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc import jwt
from tests.api.openid.provider import AUDIENCE, NOW, Provider, part, rsa
from tests.web.sign_on.coming_back import (
    CLIENT,
    START_OF_SIGN_IN,
    Trusting,
    back,
    begun,
    is_in,
    says,
    through,
)
from tests.web.world import Browser, text_of
from werkzeug.test import TestResponse

from penstock.web.http.csrf import COOKIE
from penstock.web.views.analyst.single_sign_on import ATTEMPT

pytestmark = pytest.mark.only("sqlite")


def refused(browser: Browser, answer: TestResponse, status: int = 401) -> bool:
    """Return whether an answer has this status and began no session."""
    cookies = answer.headers.getlist("Set-Cookie")
    return answer.status_code == status and not any(f"{COOKIE}=" in it for it in cookies)


def test_the_claims_must_be_right(trusting: Trusting, provider: Provider) -> None:
    browser = trusting(failed_sign_ins=0)
    for changes in (
        {"nonce": "another"},
        {"nonce": None},
        {"aud": AUDIENCE},
        {"aud": [CLIENT, "other"]},
        {"azp": "other"},
        {"aud": None},
        {"iss": "https://other.example.org"},
        {"exp": NOW - 60},
        {"exp": None},
        {"iat": None},
        {"iat": NOW + 3600},
        {"sub": None},
        {"sub": ""},
        {"sub": "x" * 256},
        {"preferred_username": None},
        {"preferred_username": ["ann"]},
        {"preferred_username": "ann\n"},
    ):
        assert refused(browser, through(browser, provider, **changes)), changes
        assert not is_in(browser), changes
    assert through(browser, provider, aud=[CLIENT, "other"], azp=CLIENT).status_code == 200
    assert is_in(browser)


def test_names_that_look_alike_are_other_names(trusting: Trusting, provider: Provider) -> None:
    browser = trusting()
    for name in ("ａｎｎ", "аnn", "Ann", "ann ", "ann\u200b"):
        answer = through(browser, provider, preferred_username=name)
        assert refused(browser, answer, 403) or refused(browser, answer), ascii(name)
        assert not is_in(browser)


@pytest.mark.parametrize("kind", ["none", "HS256", "unknown key", "RS512", "garbage", "nothing"])
def test_the_signature_must_be_the_providers(
    trusting: Trusting, provider: Provider, kind: str
) -> None:
    browser = trusting()
    asked = parse_qs(urlsplit(address := begun(browser)).query)
    claims = {**says(provider), "nonce": asked["nonce"][0]}
    public = provider.keys["rsa"].as_pem(private=False)
    bare = f"{part({'alg': 'none', 'kid': 'rsa'})}.{part(claims)}."
    text = f"{part({'alg': 'HS256', 'kid': 'rsa'})}.{part(claims)}"
    confused = f"{text}.{part(hmac.digest(public, text.encode(), 'sha256'))}"
    tokens: dict[str, Any] = {
        "none": bare,
        "HS256": confused,
        "unknown key": jwt.encode({"alg": "RS256", "kid": "rsa"}, claims, rsa("rsa")),
        "RS512": jwt.encode(
            {"alg": "RS512", "kid": "rsa"}, claims, provider.keys["rsa"], algorithms=["RS512"]
        ),
        "garbage": [7],
        "nothing": None,
    }
    provider.sent = json.dumps({"access_token": "x", "id_token": tokens[kind]}).encode()
    assert refused(browser, back(browser, provider.grant(address, says(provider))))
    provider.sent = None
    assert through(browser, provider).status_code == 200


def test_another_browsers_answer_is_refused_before_the_provider_is_asked(
    trusting: Trusting, provider: Provider
) -> None:
    browser, victim = trusting(), trusting()
    answer = provider.grant(begun(browser), says(provider, "root"))
    begun(victim)
    assert refused(victim, back(victim, answer))
    stranger = Browser(browser.world, browser.world.client.application.test_client())
    assert refused(stranger, back(stranger, answer))
    assert provider.forms == []


def test_an_answer_counts_once(trusting: Trusting, provider: Provider) -> None:
    browser = trusting()
    answer = provider.grant(begun(browser), says(provider))
    sealed = browser.client.get_cookie(ATTEMPT, "127.0.0.1")
    assert sealed is not None
    assert back(browser, answer).status_code == 200
    assert browser.client.get_cookie(ATTEMPT, "127.0.0.1") is None
    asked = len(provider.forms)
    browser.client.set_cookie(ATTEMPT, sealed.value, domain="127.0.0.1", secure=True)
    again = provider.grant(f"{provider.address}/?nonce=x&code_challenge=x&state=x", says(provider))
    assert refused(browser, back(browser, answer))
    assert refused(browser, back(browser, {**again, "state": answer["state"]}))
    assert len(provider.forms) == asked


@pytest.mark.parametrize(
    "changes", [{"state": "x"}, {"state": ""}, {"code": ""}, {"code": "x" * 5000}, {"code": "x"}]
)
def test_an_answer_of_another_attempt_is_refused(
    trusting: Trusting, provider: Provider, changes: dict[str, str]
) -> None:
    browser = trusting()
    answer = provider.grant(begun(browser), says(provider))
    assert refused(browser, back(browser, {**answer, **changes}))


def test_an_attempt_ends_after_ten_minutes(trusting: Trusting, provider: Provider) -> None:
    browser = trusting()
    answer = provider.grant(begun(browser), says(provider, exp=NOW + 3600))
    browser.world.clock.now += timedelta(minutes=10)
    assert refused(browser, back(browser, answer))


def test_a_forged_or_altered_attempt_is_refused(trusting: Trusting, provider: Provider) -> None:
    browser = trusting()
    answer = provider.grant(begun(browser), says(provider))
    sealed = browser.client.get_cookie(ATTEMPT, "127.0.0.1")
    assert sealed is not None
    plain = base64.urlsafe_b64encode(json.dumps({"state": answer["state"]}).encode()).decode()
    for value in ("", plain, sealed.value[:-2], sealed.value[::-1]):
        browser.client.set_cookie(ATTEMPT, value, domain="127.0.0.1", secure=True)
        assert refused(browser, back(browser, answer)), value
    assert answer["state"] not in base64.urlsafe_b64decode(sealed.value + "==").decode("latin-1")


def test_every_sign_in_has_its_own_challenge_and_verifier(
    trusting: Trusting, provider: Provider
) -> None:
    browser = trusting()
    asked = [parse_qs(urlsplit(begun(browser)).query) for _ in range(2)]
    for name in ("state", "nonce", "code_challenge"):
        assert len({query[name][0] for query in asked}) == 2
        assert all(len(query[name][0]) >= 43 for query in asked)
    assert {query["code_challenge_method"][0] for query in asked} == {"S256"}
    assert through(browser, provider).status_code == 200
    assert len(provider.forms[-1]["code_verifier"]) >= 43
    stolen = {**provider.grant(begun(browser), says(provider))}
    other = trusting()
    mixed = provider.grant(begun(other), says(provider))
    assert refused(other, back(other, {**mixed, "code": stolen["code"]}))


def test_a_provider_without_the_challenge_is_not_used(
    trusting: Trusting, provider: Provider
) -> None:
    provider.about = {"code_challenge_methods_supported": ["plain"]}
    answer = trusting().get(START_OF_SIGN_IN)
    assert answer.status_code == 503
    assert "does not support PKCE" in text_of(answer)


def test_an_answer_of_another_issuer_is_refused(trusting: Trusting, provider: Provider) -> None:
    browser = trusting()
    answer = provider.grant(begun(browser), says(provider))
    assert refused(browser, back(browser, {**answer, "iss": "https://other.example.org"}))
    assert provider.forms == []
    provider.about = {"authorization_response_iss_parameter_supported": True}
    strict = trusting()
    answer = provider.grant(begun(strict), says(provider))
    assert refused(strict, back(strict, answer))
    answer = provider.grant(begun(strict), says(provider))
    assert back(strict, {**answer, "iss": provider.address}).status_code == 200


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"", 401),
        (b"[]", 401),
        (b"[" * 5000, 401),
        (b'{"error": "invalid_grant"}', 401),
        (b'{"id_token": "a.b.c", "expires_in": "soon"}', 401),
        (b" " * (2 << 20), 503),
    ],
    ids=["empty", "list", "deep", "error", "expiry", "long"],
)
def test_an_answer_to_the_code_that_is_none_signs_nobody_in(
    trusting: Trusting, provider: Provider, sent: bytes, status: int
) -> None:
    browser = trusting()
    provider.sent = sent
    assert refused(browser, through(browser, provider), status)


def test_who_declines_at_the_provider_is_not_signed_in(
    trusting: Trusting, provider: Provider
) -> None:
    browser = trusting()
    answer = provider.grant(begun(browser), says(provider))
    declined = {"state": answer["state"], "error": "<script>", "error_description": "<b>"}
    page = back(browser, declined)
    assert refused(browser, page, 403)
    assert "<script>" not in page.text


def test_a_hundred_thousand_groups_are_refused(trusting: Trusting, provider: Provider) -> None:
    browser = trusting(oidc_groups_claim="groups")
    many = [f"group-{number}" for number in range(100_000)]
    assert refused(browser, through(browser, provider, groups=many), 503)
    assert refused(browser, through(browser, provider, groups=many[:20_000]))


def test_failed_sign_ins_are_limited(trusting: Trusting, provider: Provider) -> None:
    browser = trusting(failed_sign_ins=3)
    statuses = [back(browser, {"code": "x", "state": "x"}).status_code for _ in range(4)]
    assert statuses == [401, 401, 401, 429]
    del provider
