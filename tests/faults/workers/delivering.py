"""Define workers that send messages to a receiver on this machine, and hasty ones."""

import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from sqlmodel import Session, select
from tests.faults.requests import requesting
from tests.faults.stage import TIERS, opened, urls_beside
from tests.unit.services.webhook.receiver import SECRET

from penstock.cli.program import DONE, run
from penstock.persistence.tables import LogReader
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.context import Server
from penstock.services.operations import home
from penstock.services.schemas.datasets import DatasetChange
from penstock.services.webhook import log_reading, looking, outbox
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


def killed_before_the_commit() -> None:
    """Kill the process that has stored a message about a leaf, and has not committed it."""
    product = log_reading._store

    def store(*arguments: Any) -> None:
        product(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)

    vars(log_reading)["_store"] = store


def noted_before_messages_are_stored() -> None:
    """Note how far the log was read in a transaction before that of the messages."""
    product = log_reading._read_part

    def read_part(session: Session, server: Server) -> bool:
        with server.database.write_own_rows() as before:
            reader = before.exec(select(LogReader)).one()
            first, reader.next_leaf = reader.next_leaf, log_reading._end(before)
            before.add(reader)
        reader = session.exec(select(LogReader)).one()
        reader.next_leaf = first
        return product(session, server)

    vars(log_reading)["_read_part"] = read_part
    killed_before_the_commit()


def work(folder: Path, url: str, ahead: timedelta, flaw: Flaw, events: str = "") -> None:
    """Be the process of ``penstock work``, with a webhook and a clock that is ``ahead``."""
    named = json.loads(urls_beside(folder).read_text())
    set_here = {"home": str(folder), **named, "webhook_url": url, "webhook_secret": SECRET}
    if events:
        set_here["webhook_events"] = events
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


def raise_budget(folder: Path, epsilon: float) -> None:
    """Raise a budget, by a process that knows no webhook."""
    with opened(folder) as server:
        change = DatasetChange.model_validate({"budgets": {TIERS[-1]: {"epsilon": epsilon}}})
        budgets.change(server, OPERATOR, "sites", change)


def listed(server: Server) -> DeliveryView:
    """Return the one message that there is."""
    (view,) = outbox.listing(server, OPERATOR)
    return view
