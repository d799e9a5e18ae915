"""How a page is declared: verb, address, policy, view.

A page without a policy cannot be written down.  A view takes a ``Visit`` and the names in
its address; it parses, calls one service, and answers.
"""

from collections.abc import Callable
from dataclasses import dataclass

from flask import Response

from penstock.web.http.request_context import Visit

View = Callable[..., Response]


@dataclass(frozen=True)
class Policy:
    """Who may see a page.  The services check again what depends on the object."""

    sentence: str
    needs_session: bool = True
    roles: tuple[str, ...] = ()


ANYBODY = Policy("anybody, without a session", needs_session=False)
SIGNED_IN = Policy("everybody with a session")
ANALYST = Policy("analysts", roles=("analyst",))
ADMIN = Policy("admins", roles=("admin",))
AUDITOR = Policy("auditors", roles=("auditor",))
OVERSEER = Policy("admins and auditors", roles=("admin", "auditor"))
READER = Policy("analysts, about themselves, and auditors", roles=("analyst", "auditor"))


@dataclass(frozen=True)
class Page:
    """One verb at one address, as Flask writes it; ``menu`` is what leads there, if anything."""

    verb: str
    path: str
    policy: Policy
    view: View
    menu: str = ""

    @property
    def name(self) -> str:
        """The view's name, unique among all pages."""
        return self.view.__name__


class Pages:
    """The pages of one subject."""

    def __init__(self) -> None:
        self.declared: list[Page] = []

    def get(self, path: str, policy: Policy, *, menu: str = "") -> Callable[[View], View]:
        """Declare a page that only reads; with ``menu`` it stands in the menu of who may see it."""
        return self._declare("GET", path, policy, menu)

    def post(self, path: str, policy: Policy) -> Callable[[View], View]:
        """Declare what a form is sent to.

        With a session it has to carry the session's key; it always has to come from our own
        pages.  What is done is answered by a redirect, so that it is not done again by going back.
        """
        return self._declare("POST", path, policy)

    def _declare(
        self, verb: str, path: str, policy: Policy, menu: str = ""
    ) -> Callable[[View], View]:
        def declare(view: View) -> View:
            self.declared.append(Page(verb, path, policy, view, menu))
            return view

        return declare


__all__ = [
    "ADMIN",
    "ANALYST",
    "ANYBODY",
    "AUDITOR",
    "OVERSEER",
    "READER",
    "SIGNED_IN",
    "Page",
    "Pages",
    "Policy",
    "Visit",
]
