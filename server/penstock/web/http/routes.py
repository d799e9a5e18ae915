"""Declare pages: verb, path, policy, view.

A page cannot be declared without a policy.  A view takes a ``Visit`` and the names in its path;
it parses the input, calls one service, and returns a response.
"""

from collections.abc import Callable
from dataclasses import dataclass

from flask import Response

from penstock.web.http.request_context import Visit

View = Callable[..., Response]


@dataclass(frozen=True)
class Policy:
    """Define who may see a page; the services also check what depends on the object.

    A form that comes ``from_pages`` must have their origin; any other proves itself.
    """

    sentence: str
    needs_session: bool = True
    roles: tuple[str, ...] = ()
    from_pages: bool = True


ANYBODY = Policy("every visitor, without a session", needs_session=False)
PROVIDER = Policy("the identity provider, by its signature", needs_session=False, from_pages=False)
SIGNED_IN = Policy("every user with a session")
ANALYST = Policy("analysts", roles=("analyst",))
ADMIN = Policy("admins", roles=("admin",))
PLANNER = Policy("analysts and admins", roles=("analyst", "admin"))
AUDITOR = Policy("auditors", roles=("auditor",))
OVERSEER = Policy("admins and auditors", roles=("admin", "auditor"))
READER = Policy("analysts, about themselves, and auditors", roles=("analyst", "auditor"))


@dataclass(frozen=True)
class PageRoute:
    """Represent one verb at a path in Flask's notation; ``menu`` is its text in the menu."""

    verb: str
    path: str
    policy: Policy
    view: View
    menu: str = ""

    @property
    def name(self) -> str:
        """Return the view's name, which is unique among all pages."""
        return self.view.__name__


class Pages:
    """Collect the pages of one subject."""

    def __init__(self) -> None:
        self.declared: list[PageRoute] = []

    def get(self, path: str, policy: Policy, *, menu: str = "") -> Callable[[View], View]:
        """Declare a page that only reads; with ``menu``, it is in the menu of its readers."""
        return self._declare("GET", path, policy, menu)

    def post(self, path: str, policy: Policy) -> Callable[[View], View]:
        """Declare the target of a form.

        A form of a session must carry the session's key, and every form must come from this
        server's pages.  The answer is a redirect, so that going back does not repeat the action.
        """
        return self._declare("POST", path, policy)

    def _declare(
        self, verb: str, path: str, policy: Policy, menu: str = ""
    ) -> Callable[[View], View]:
        def declare(view: View) -> View:
            self.declared.append(PageRoute(verb, path, policy, view, menu))
            return view

        return declare


__all__ = [
    "ADMIN",
    "ANALYST",
    "ANYBODY",
    "AUDITOR",
    "OVERSEER",
    "PLANNER",
    "PROVIDER",
    "READER",
    "SIGNED_IN",
    "PageRoute",
    "Pages",
    "Policy",
    "Visit",
]
