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
    """Represent one verb at a path in Flask's notation; ``menu`` is its text in the menu.

    If it ``takes_file``, its form ends with a file, and the view gets it as ``upload``.
    """

    verb: str
    path: str
    policy: Policy
    view: View
    menu: str = ""
    takes_file: bool = False

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

    def post(
        self, path: str, policy: Policy, *, takes_file: bool = False
    ) -> Callable[[View], View]:
        """Declare the target of a form.

        A form of a session must carry the session's key, and every form must come from this
        server's pages.  The answer is a redirect, so that going back does not repeat the action.
        A form with a file of data is of multipart/form-data, and the file is its last field.
        """
        return self._declare("POST", path, policy, takes_file=takes_file)

    def _declare(
        self, verb: str, path: str, policy: Policy, menu: str = "", *, takes_file: bool = False
    ) -> Callable[[View], View]:
        def declare(view: View) -> View:
            self.declared.append(PageRoute(verb, path, policy, view, menu, takes_file))
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
