"""Sign in at a provider as a browser does, and say what its tokens say."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from tests.api.openid.provider import AUDIENCE, NOW, Provider
from tests.web.world import Browser
from werkzeug.test import TestResponse

Trusting = Callable[..., Browser]
"""Makes a new browser of a server that trusts the provider, with these settings besides."""

CLIENT = "penstock-pages"
START_OF_SIGN_IN = "/sign-in/provider?next=/queries/visits"
RETURN = "/sign-in/return"


def settings(provider: Provider, **more: Any) -> dict[str, Any]:
    """Return the settings of a server whose people sign in at ``provider``."""
    return {
        "oidc_issuer": provider.address,
        "oidc_audience": AUDIENCE,
        "oidc_client_id": CLIENT,
        "oidc_claim": "preferred_username",
        **more,
    }


def says(provider: Provider, name: str = "ann", **changes: Any) -> dict[str, Any]:
    """Return the claims of a good ID token; a change to None leaves a claim out."""
    return {
        "iss": provider.address,
        "aud": CLIENT,
        "sub": f"id-of-{name}",
        "preferred_username": name,
        "iat": NOW,
        "exp": NOW + 300,
        **changes,
    }


def begun(browser: Browser) -> str:
    """Begin to sign in; the address at the provider."""
    answer = browser.get(START_OF_SIGN_IN)
    assert answer.status_code == 303, answer.text
    return str(answer.location)


def back(browser: Browser, answer: dict[str, str]) -> TestResponse:
    """Come back from the provider with its answer."""
    return browser.get(f"{RETURN}?{urlencode(answer)}")


def through(
    browser: Browser, provider: Provider, name: str = "ann", **changes: Any
) -> TestResponse:
    """Sign in, with these claims changed."""
    return back(browser, provider.grant(begun(browser), says(provider, name, **changes)))


def is_in(browser: Browser) -> bool:
    """Return whether the browser has a session."""
    return browser.get("/catalogue").status_code == 200
