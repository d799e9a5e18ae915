"""Refuse actions that one admin must propose and another approve, under the two-person rule.

If the setting is on, nobody alone can enlarge the largest budget of a dataset (a new version
starts with no larger one, and two admins raise it), let analysts spend more of it by themselves,
or more analysts, remove something forever (a tier, a query, a stream, a dataset's keys), or
continue after a restore.  The services that do these
call this module in the transaction in which they would have acted, so that the rule cannot be
bypassed; ``proposals`` continues from there.

A person who could make a second admin, or issue a token for one, could act as two people.  So
only the operator may do that.  Disabling a user is not among these actions: it takes away
nothing but access, and must be quick when a token is stolen.
"""

from collections.abc import Iterable

from penstock.errors import ApprovalNeeded, Forbidden
from penstock.services.access.principals import Principal
from penstock.services.context import Server


def require_second(server: Server) -> None:
    """Raise ``ApprovalNeeded`` if the rule is in force."""
    if server.settings.two_person_rule:
        raise ApprovalNeeded(
            "Under the two-person rule one admin proposes this and another approves it; nothing"
            " was done."
        )


def require_no_larger(server: Server, before: float, requested: Iterable[float]) -> None:
    """Raise ``Forbidden`` under the rule if an epsilon is above the largest one ``before``."""
    if server.settings.two_person_rule and max(requested) > before:
        raise Forbidden(
            "Under the two-person rule nobody alone can grant a budget above the dataset's"
            f" largest one, epsilon {before:g}. Register the version with at most that; then"
            " propose the larger budget, which another admin approves."
        )


def require_operator(server: Server, principal: Principal, what: str) -> None:
    """Raise ``Forbidden`` if the rule is in force, unless the operator acts."""
    if server.settings.two_person_rule and not principal.is_operator:
        raise Forbidden(
            f"Under the two-person rule only the operator {what}: an admin who could do it could"
            f" act as two people. Ask the operator to do it with the command `penstock`."
        )
