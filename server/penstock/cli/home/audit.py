"""``penstock audit``: who was given what, and what they know together."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from penstock.cli.operator import Operator, everything
from penstock.cli.options import Moment, format_option, option
from penstock.cli.output import Column, Document
from penstock.cli.people.proposals import do_or_propose
from penstock.cli.statistics.queries import LEVEL, level_cells
from penstock.figures import moment

if TYPE_CHECKING:
    from penstock.services.schemas.exposure import ExposureView


@click.group()
def audit() -> None:
    """The record of who was given what."""


@audit.command()
@option("--user", help="Only what concerns this user.")
@option("--query", help="Only what concerns this query.")
@option("--kind", help="Only this kind: release, dataset, query, tier, user, clearance, ...")
@option("--since", type=Moment(), help="From this time on.")
@option("--until", type=Moment(), help="Before this time.")
@option("--limit", type=click.IntRange(min=1), help="At most so many, the oldest first.")
@format_option
@click.pass_obj
def events(
    operator: Operator,
    user: str | None,
    query: str | None,
    kind: str | None,
    since: datetime | None,
    until: datetime | None,
    limit: int | None,
) -> None:
    """List the log: every first hand-out, and every change that could permit one."""
    from penstock.services.audit import events as log
    from penstock.transparency_log.leaves import KINDS

    if kind is not None and kind not in KINDS:
        raise click.BadParameter(f"{kind!r} is none of {', '.join(KINDS)}.", param_hint="--kind")
    views = everything(
        lambda window: log.listing(
            operator.server,
            operator.principal,
            window,
            user=user,
            query=query,
            kind=kind,
            since=since,
            until=until,
        ),
        limit,
    )
    fields = ("at", "kind", "actor", "user", "dataset", "query", "tier")
    columns = (
        Column("index", right=True),
        *(Column(name, _at if name == "at" else str) for name in fields),
        Column("leaf", None),
        Column("leaf_hash", lambda cell: cell[:16]),
    )
    rows = [
        (event.index, *(event.leaf.get(name) for name in fields), event.leaf, event.leaf_hash)
        for event in views
    ]
    answer = [{"index": event.index, "leaf_hash": event.leaf_hash, **event.leaf} for event in views]
    operator.print(Document(answer, columns, rows, note="" if views else "Nothing is recorded."))


@audit.command()
@option("--users", required=True, help="Names, with commas between.")
@option("--dataset", help="Only this dataset [default: all, added up].")
@format_option
@click.pass_obj
def exposure(operator: Operator, users: str, dataset: str | None) -> None:
    """Show what some users learn by putting together all that they were given."""
    from penstock.services.exposure import exposure as exposures

    names = [name.strip() for name in users.split(",") if name.strip()]
    view = exposures.of(operator.server, operator.principal, names, dataset)
    operator.print(_exposure(view))


@audit.command()
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path, allow_dash=True))
@click.pass_obj
def export(operator: Operator, path: Path) -> None:
    """Write all leaves of the log to PATH, one JSON object a line; - for standard output.

    With the server's checkpoint anybody can verify it: python -m penstock_client.offline.
    """
    import json
    from dataclasses import asdict

    from penstock.services.audit import proofs

    with click.open_file(str(path), "w", encoding="utf-8") as file:
        for leaf in proofs.export(operator.server, operator.principal):
            file.write(json.dumps(asdict(leaf)) + "\n")


@audit.command()
@format_option
@click.pass_obj
def checkpoint(operator: Operator) -> None:
    """Show the newest checkpoint: the log's size and root, signed."""
    from penstock.services.audit import proofs

    view = proofs.checkpoint(operator.server)
    rows = [
        (name, str(value))
        for name, value in vars(view).items()
        if name not in ("note", "cosignatures")
    ]
    rows += [
        ("cosigned by", f"{cosignature.cosigner}, {cosignature.cosigned_at}")
        for cosignature in view.cosignatures
    ]
    operator.print(Document(view, (Column("part"), Column("value")), rows))


@audit.command()
@format_option
@click.pass_context
def verify(context: click.Context) -> None:
    """Recompute the log from its leaves, and hold all that is stored to it.  Exits 1 if it differs.

    Hashes, the tree, checkpoints and their signatures, the witness, and the values of every
    hand-out.  It looks at one state, while the server may go on.
    """
    from penstock.services.verification.verification import verify as verified

    operator = context.ensure_object(Operator)
    report = verified(operator.server, operator.principal)
    rows = [
        ("leaves", str(report.size)),
        ("root", report.root_hash),
        ("checkpoints", str(report.checkpoints)),
        ("hand-outs", str(report.hand_outs)),
        ("problems", str(len(report.problems))),
    ]
    operator.print(Document(report, (Column("part"), Column("value")), rows))
    for problem in report.problems:
        operator.say(f"Problem: {problem}")
    if report.problems:
        context.exit(1)


@audit.command("acknowledge-clock")
@format_option
@click.pass_obj
def acknowledge_clock(operator: Operator) -> None:
    """Say that the log was signed at a time that was wrong, and go on with this machine's clock.

    For a clock that had been ahead: until this one has caught up, time stands still at the
    log's.  What ended by the wrong time and not by the right one is valid again.  It is logged.
    """
    from penstock.services.audit import clocks

    acknowledged = clocks.acknowledge(operator.server, operator.principal)
    rows = [
        ("time of the log that was given up", moment(acknowledged.before)),
        ("time that holds now", moment(acknowledged.after)),
        ("leaf of the acknowledgment", str(acknowledged.leaf)),
    ]
    operator.print(
        Document(
            acknowledged,
            (Column("part"), Column("value")),
            rows,
            note="Tokens that were made meanwhile last until the times that they say, which were"
            " reckoned from the wrong one: revoke them.",
        )
    )


@audit.command("acknowledge-restore")
@format_option
@click.pass_obj
def acknowledge_restore(operator: Operator) -> None:
    """Go on with a database that was put back to an older state, or after losing the witness.

    Nothing that is lost comes back: queries of the older state draw nothing more and hand out
    what is stored, and budgets stay spent as the witness saw them.  It is logged.
    """
    from penstock.services.approvals.actions import Acknowledgment

    acknowledged = do_or_propose(operator, Acknowledgment())
    if acknowledged is None:
        return
    rows = [
        ("leaves that the witness saw", str(acknowledged.witnessed)),
        ("leaf of the acknowledgment", str(acknowledged.leaves)),
        ("queries that draw nothing more", str(acknowledged.frozen)),
        ("accounts that keep lost charges", str(acknowledged.charged)),
        ("datasets that are gone", ", ".join(acknowledged.datasets) or "none"),
    ]
    operator.print(
        Document(
            acknowledged,
            (Column("part"), Column("value")),
            rows,
            note="Datasets that are gone had spent of their budgets: what is registered in their"
            " place must allow for it. Clients that know the lost log will refuse this one.",
        )
    )


def _at(cell: Any) -> str:
    return moment(datetime.fromisoformat(cell))


def _exposure(view: "ExposureView") -> Document:
    """One row for each query, then the composed losses."""
    rows: list[tuple[object, ...]] = [
        (
            "query",
            query.query,
            *level_cells(query.level, query.guarantee.epsilon, query.guarantee.delta),
        )
        for query in view.queries
    ]
    for name, loss in (
        ("could be", view.could_be),
        ("released", view.released),
        ("independent", view.independent),
    ):
        rows.append((name, None, None, None, loss.epsilon, loss.delta))
    for name, reach in (("reach", view.reach), ("registrars", view.registrars)):
        if reach is not None:
            rows.append((name, reach.tier, None, None, reach.epsilon, reach.delta))
    note = (
        "'could be' is the bound: all that they may fetch. 'released' is after the fact, and"
        " 'independent' is what the same releases would have cost had each been drawn alone."
    )
    columns = (Column("figure"), Column("of"), *LEVEL)
    return Document(view, columns, rows, (", ".join(view.users),), note)
