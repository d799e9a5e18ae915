"""Decide on proposals under the two-person rule."""

from penstock_client._http.address import segment
from penstock_client._http.fields import Fields
from penstock_client._show.listing import Listing
from penstock_client.admin import documents
from penstock_client.admin.models import Proposal
from penstock_client.admin.sending import Sender
from penstock_client.questions.session import API


class Decisions(Sender):
    """Provide what admins do with proposals."""

    def proposals(self, state: str | None = None) -> Listing[Proposal]:
        """Return proposals, of one state such as ``open`` or all."""
        parameters = {} if state is None else {"state": state}
        return Listing(
            map(Proposal.read, self._list("/proposals", parameters)), documents.proposals
        )

    def proposal(self, proposal: Proposal | str) -> Proposal:
        """Return one proposal.  Raises ``NotFound``."""
        return Proposal.read(self._show(_path(proposal), "proposal"))

    def approve_proposal(self, proposal: Proposal | str) -> Proposal:
        """Approve somebody else's proposal, which does what it proposes.

        Raises ``Forbidden`` for one's own, and ``Conflict`` if it is decided or has expired.
        """
        return Proposal.read(self._post(f"{_path(proposal)}/approval", {}, "proposal"))

    def withdraw_proposal(self, proposal: Proposal | str) -> Proposal:
        """Withdraw one's own proposal, or decline another admin's."""
        answer = self._transport.delete(f"{API}{_path(proposal)}")
        return Proposal.read(Fields(answer, "proposal"))


def _path(proposal: Proposal | str) -> str:
    return f"/proposals/{segment(proposal.id if isinstance(proposal, Proposal) else proposal)}"
