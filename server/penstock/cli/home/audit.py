"""Run ``penstock audit``: list and verify the audit log, and show exposure."""

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
    """List, export and verify the audit log, and show exposure."""


@audit.command()
@option("--user", help="List only leaves that concern this user.")
@option("--query", help="List only leaves that concern this query.")
@option("--kind", help="List only this kind: release, dataset, query, tier, user, clearance, ...")
@option("--since", type=Moment(), help="List leaves from this time on.")
@option("--until", type=Moment(), help="List leaves before this time.")
@option("--limit", type=click.IntRange(min=1), help="List at most this many, the oldest first.")
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
    """List the leaves of the log.

    These are every first release to a user, and every change that could permit one.
    """
    from penstock.services.audit import events as log
    from penstock.transparency_log.leaves import KINDS

    if kind is not None and kind not in KINDS:
        raise click.BadParameter(f"{kind!r} is not one of {', '.join(KINDS)}.", param_hint="--kind")
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
    operator.print(
        Document(answer, columns, rows, note="" if views else "No leaf of the log matches.")
    )


@audit.command()
@option("--users", required=True, help="Names, separated by commas.")
@option("--dataset", help="Count only this dataset [default: all, added up].")
@format_option
@click.pass_obj
def exposure(operator: Operator, users: str, dataset: str | None) -> None:
    """Show what some users could learn together."""
    from penstock.services.exposure import exposure as exposures

    names = [name.strip() for name in users.split(",") if name.strip()]
    view = exposures.of(operator.server, operator.principal, names, dataset)
    operator.print(_exposure(view))


@audit.command()
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path, allow_dash=True))
@click.pass_obj
def export(operator: Operator, path: Path) -> None:
    """Write all leaves of the log to PATH.

    Each line is a JSON object; - is standard output.  Anyone can verify the export with the
    server's checkpoint: python -m penstock_client.offline.
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
    """Show the newest checkpoint, the signed size and root of the log."""
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
    """Recompute the log and compare what is stored.

    Exits with 1 if they differ.  It checks hashes, the tree, checkpoints and their signatures, the
    witness, and the values of every release.  It reads one state of the database; the server may
    keep running.
    """
    from penstock.services.verification.verification import verify as verified

    operator = context.ensure_object(Operator)
    report = verified(operator.server, operator.principal)
    rows = [
        ("leaves", str(report.size)),
        ("root", report.root_hash),
        ("checkpoints", str(report.checkpoints)),
        ("releases", str(report.hand_outs)),
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
    """Continue after the log was signed at a wrong time.

    It states that the time was wrong, and this machine's clock holds from then on. Use it after a
    clock had been ahead: otherwise the server's time stays at the log's until this machine's clock
    has caught up.  What expired only by the wrong time is valid again.  The acknowledgment is
    logged.
    """
    from penstock.services.audit import clocks

    acknowledged = clocks.acknowledge(operator.server, operator.principal)
    rows = [
        ("log's time before", moment(acknowledged.before)),
        ("time now", moment(acknowledged.after)),
        ("leaf of the acknowledgment", str(acknowledged.leaf)),
    ]
    operator.print(
        Document(
            acknowledged,
            (Column("part"), Column("value")),
            rows,
            note="Tokens that were created in that time expire at times that were computed from the"
            " wrong time: revoke them.",
        )
    )


@audit.command("acknowledge-restore")
@format_option
@click.pass_obj
def acknowledge_restore(operator: Operator) -> None:
    """Continue with a restored database, or without the witness.

    The database is one that was restored from an older state, or whose witness was lost.
    Nothing that was lost comes back: queries of the older state draw no new noise and release only
    what is stored, and budgets stay spent as the witness saw them.  Schedules are switched off, and
    allowances taken back.  The acknowledgment is logged.
    """
    from penstock.services.approvals.actions import Acknowledgment

    acknowledged = do_or_propose(operator, Acknowledgment())
    if acknowledged is None:
        return
    rows = [
        ("leaves that the witness saw", str(acknowledged.witnessed)),
        ("leaf of the acknowledgment", str(acknowledged.leaves)),
        ("queries that draw no new noise", str(acknowledged.frozen)),
        ("accounts that keep lost charges", str(acknowledged.charged)),
        ("datasets that are lost", ", ".join(acknowledged.datasets) or "none"),
    ]
    operator.print(
        Document(
            acknowledged,
            (Column("part"), Column("value")),
            rows,
            note="Datasets that are lost had spent part of their budgets: give their replacements"
            " smaller budgets. Allowances are taken back, since what was spent of them is lost."
            " Clients that remember the lost log will refuse this one.",
        )
    )


def _at(cell: Any) -> str:
    return moment(datetime.fromisoformat(cell))


def _exposure(view: "ExposureView") -> Document:
    """Return an exposure, with one row for each query and then one for each composed loss."""
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
        "'could be' is the bound, over all that these users may fetch. 'released' covers only what"
        " they did fetch. 'independent' is what the same releases would have cost if each had"
        " been drawn independently. 'reach' is the budget of the highest tier that any of them ever"
        " held, 'registrars' that of those who chose these queries."
    )
    columns = (Column("figure"), Column("of"), *LEVEL)
    return Document(view, columns, rows, (", ".join(view.users),), note)
