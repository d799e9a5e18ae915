"""Make invitations."""

from typing import Any

from penstock.services.access.principals import OPERATOR, Principal
from penstock.services.context import Server
from penstock.services.schemas.people.invitations import InvitationSpec
from penstock.services.sign_on import invitations


def invited(server: Server, by: Principal = OPERATOR, **changes: Any) -> str:
    """Return the code of a new invitation."""
    usual = {"name": "lea", "roles": ["analyst"], "clearance": "partner"}
    spec = InvitationSpec.model_validate({**usual, **changes})
    return invitations.invite(server, by, spec).link.rpartition("#")[2]
