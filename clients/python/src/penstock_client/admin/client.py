"""Provide ``Admin``, a client with what admins and auditors do besides."""

from penstock_client.admin.data import Data
from penstock_client.admin.decisions import Decisions
from penstock_client.admin.people import People
from penstock_client.admin.proofs import Proofs
from penstock_client.client import Client


class Admin(Client, People, Data, Decisions, Proofs):
    """Represent a connection to one Penstock server, as an admin or an auditor.

    It is a ``Client`` with more methods, and is made in the same way.  Requests that create
    something are sent again if their answer is lost, under an idempotency key, so that the
    server acts on them once.  Every method raises what ``Client`` raises; where the server
    requires two persons, ``Proposed`` with the proposal that another admin must approve.
    """
