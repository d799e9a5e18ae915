"""Define workers that send messages of requests to a receiver on this machine, and a hasty one."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from tests.faults.requests import requesting
from tests.faults.stage import opened, urls_beside
from tests.unit.services.webhook.receiver import SECRET

from penstock.cli.program import DONE, run
from penstock.services.access.principals import OPERATOR
from penstock.services.context import Server
from penstock.services.operations import home
from penstock.services.webhook import looking, outbox
from penstock.services.webhook.outbox import Claim, DeliveryView
from penstock.services.webhook.posting import Outcome

AHEAD = timedelta(minutes=2)
"""By how much the clock of the worker that follows is ahead: more than the first pause."""

Flaw = Callable[[], None]


def no_flaw() -> None:
    """Leave the product as it is."""


def hasty() -> None:
    """Note that a message is delivered before it is sent."""
    product = looking._sent

    def sent(server: Server, claim: Claim) -> Outcome:
        outbox.settle(server, claim, Outcome(delivered=True, answer="status 204"))
        return product(server, claim)

    vars(looking)["_sent"] = sent


def work(folder: Path, url: str, ahead: timedelta, flaw: Flaw) -> None:
    """Be the process of ``penstock work``, with a webhook and a clock that is ``ahead``."""
    named = json.loads(urls_beside(folder).read_text())
    set_here = {"home": str(folder), **named, "webhook_url": url, "webhook_secret": SECRET}
    for name, value in set_here.items():
        os.environ[f"PENSTOCK_{name.upper()}"] = str(value)
    clocked: Any = partial(home.open_server, clock=lambda: home.utc_now() + ahead)
    vars(home)["open_server"] = clocked
    vars(looking)["LOOK_SECONDS"] = 0.05
    flaw()
    assert run(["work"]) == DONE


def ask(folder: Path, url: str, number: int = 1) -> str:
    """Request a query from a server with that webhook; return the request's identifier."""
    with opened(folder) as server:
        changes = {"webhook_url": url, "webhook_secret": SECRET}
        settings = server.settings.model_copy(update=changes)
        return requesting.ask(replace(server, settings=settings), requesting.REQUESTERS[0], number)


def listed(server: Server) -> DeliveryView:
    """Return the one message that there is."""
    (view,) = outbox.listing(server, OPERATOR)
    return view
