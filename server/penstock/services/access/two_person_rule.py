"""The two-person rule: some acts are proposed by one admin, and approved by another.

With the setting on, nobody does them alone: what enlarges the largest budget of a dataset
(a new version starts with no larger one, and is raised by two), what takes away for ever (a
tier, a query, a stream, a dataset's keys), and going on after a restore.  The services that
do these refuse here, in the transaction in which they would have done it, so that no way
leads past; ``proposals`` takes it from there.

Somebody who could make a second admin, or a token of one, would be two people.  So that is
the operator's to do.  Disabling a user is not among these acts: it takes nothing from anybody
but access, and has to be quick when a token is stolen.
"""

from collections.abc import Iterable

from penstock.errors import ApprovalNeeded, Forbidden
from penstock.services.access.principals import Principal
from penstock.services.context import Server


def require_second(server: Server) -> None:
    """Raise ``ApprovalNeeded`` where the rule is in force."""
    if server.settings.two_person_rule:
        raise ApprovalNeeded(
            "Under the two-person rule this is proposed by one admin and approved by another;"
            " nothing was done."
        )


def require_no_larger(server: Server, before: float, wanted: Iterable[float]) -> None:
    """Raise ``Forbidden`` where an epsilon is above the largest ``before``, under the rule."""
    if server.settings.two_person_rule and max(wanted) > before:
        raise Forbidden(
            "Under the two-person rule nobody alone brings a budget larger than any that the"
            f" dataset has, epsilon {before:g}. Register the version with at most that; then"
            " propose the larger one for it, which another admin approves."
        )


def require_operator(server: Server, principal: Principal, what: str) -> None:
    """Raise ``Forbidden`` where the rule is in force, unless it is the operator who acts."""
    if server.settings.two_person_rule and not principal.is_operator:
        raise Forbidden(
            f"Under the two-person rule only the operator {what}: an admin who could do it would"
            " be two people. Ask the operator, who does it with the command `penstock`."
        )
