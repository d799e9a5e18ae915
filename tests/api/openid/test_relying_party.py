"""Test the code flow by itself: what is asked for, and what an answer must have."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.api.openid.provider import NOW, Provider, rsa, serving
from tests.api.world import START

from penstock.errors import IdentityUnavailable
from penstock.openid.issuer import Issuer, Refused
from penstock.openid.relying_party import Account, Attempt, Registration, RelyingParty

REGISTRATION = Registration("pages", "", "https://here/return", "openid", "name", "groups")
KEY = rsa("rsa")


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving() as made:
        made.add("rsa", KEY)
        yield made


def party(provider: Provider, **changes: Any) -> RelyingParty:
    return RelyingParty(Issuer(provider.address, "api", "sub"), replace(REGISTRATION, **changes))


def account(provider: Provider, of: RelyingParty, **changes: Any) -> Account:
    """Return the account of a sign-in whose ID token has these claims changed."""
    attempt = Attempt.fresh()
    said = {"iss": provider.address, "aud": "pages", "sub": "7", "name": "ann"}
    times = {"iat": NOW, "exp": NOW + 60}
    answer = provider.grant(of.address(attempt), {**said, **times, **changes})
    return of.redeem(answer, attempt, START)


def test_the_request_has_what_binds_the_answer_to_it(provider: Provider) -> None:
    attempt = Attempt.fresh()
    asked = parse_qs(urlsplit(party(provider).address(attempt)).query)
    assert (asked["state"], asked["nonce"]) == ([attempt.state], [attempt.nonce])
    assert asked["code_challenge_method"] == ["S256"]
    assert attempt.verifier not in str(asked)


@pytest.mark.parametrize(
    ("claim", "groups"),
    [
        (["a", "b", "a"], {"a", "b"}),
        ("a b", {"a b"}),
        ([7, None, ["a"], {"a": 1}, "a"], {"a"}),
        ({"a": 1}, set()),
        (7, set()),
        (None, set()),
    ],
)
def test_groups_are_texts_of_one_claim(provider: Provider, claim: object, groups: set[str]) -> None:
    assert account(provider, party(provider), groups=claim).groups == groups


def test_the_account_is_what_the_token_says(provider: Provider) -> None:
    found = account(provider, party(provider), sid="s1")
    assert found == Account(provider.address, "7", "ann", frozenset(), "s1")


def test_a_secret_is_sent_as_the_provider_takes_it(provider: Provider) -> None:
    account(provider, party(provider))
    assert provider.forms[-1]["client_id"] == "pages"
    account(provider, party(provider, secret="hush"))
    assert "client_secret" not in provider.forms[-1]
    provider.about = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    account(provider, party(provider, secret="hush"))
    assert provider.forms[-1]["client_secret"] == "hush"


@pytest.mark.parametrize(
    "about",
    [
        {"authorization_endpoint": None},
        {"authorization_endpoint": "http://elsewhere.example.org/"},
        {"code_challenge_methods_supported": []},
        {"code_challenge_methods_supported": ["plain"]},
    ],
    ids=str,
)
def test_a_provider_that_cannot_do_it_safely_is_not_used(
    provider: Provider, about: dict[str, Any]
) -> None:
    provider.about = about
    with pytest.raises(IdentityUnavailable):
        party(provider).address(Attempt.fresh())


def test_a_code_is_redeemed_with_the_verifier_of_its_challenge_alone(provider: Provider) -> None:
    of, first, second = party(provider), Attempt.fresh(), Attempt.fresh()
    said = {"iss": provider.address, "aud": "pages", "sub": "7", "name": "ann", "iat": NOW}
    answer = provider.grant(of.address(first), {**said, "exp": NOW + 60})
    with pytest.raises(Refused):
        of.redeem({**answer, "state": second.state}, second, START)
