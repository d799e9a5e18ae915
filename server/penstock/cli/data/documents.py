"""Print datasets and their budgets, for all commands that show them."""

from typing import TYPE_CHECKING

from penstock.cli.output import Column, Document
from penstock.cli.wordings import wording_lines
from penstock.figures import moment, percent, printable, short

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.services.schemas.datasets import DatasetBudgetView
    from penstock.services.schemas.views import (
        DatasetView,
    )


def shown(dataset: "DatasetView") -> Document:
    """Return the dataset's facts, and one row for each tier's budget."""
    facts = [
        f"{dataset.name}, version {dataset.version}, registered {moment(dataset.registered_at)}"
        + (f", declaration {dataset.declaration}" if dataset.declaration > 1 else "")
        + (", with no people from earlier versions" if dataset.disjoint_units else ""),
        f"  {printable(dataset.sentence)}",
        *wording_lines(dataset),
        f"  source {source_in_words(dataset.source)}",
        (
            f"  privacy unit {unit_in_words(dataset.privacy_unit) or 'asserted with each vector'},"
            f" neighboring {dataset.neighboring}, delta {dataset.delta:g}"
            + (", charged in squares of mu" if dataset.accountant == "gaussian" else "")
        ),
    ]
    if dataset.same_people_as:
        facts.append(f"  the same people as {', '.join(dataset.same_people_as)}: losses add up")
    facts += [f"  column {name}: {_column(spec)}" for name, spec in dataset.columns.items()]
    columns = (*(Column("tier"), Column("epsilon", right=True), Column("delta", right=True)),)
    rows = [(tier, budget.epsilon, budget.delta) for tier, budget in dataset.budgets.items()]
    return Document(dataset, columns, rows, facts)


def _column(spec: dict[str, object]) -> str:
    words = [str(spec.get("type"))]
    categories = spec.get("categories")
    if isinstance(categories, list):
        words.append(f"{len(categories)} categories")
    words += [f"{name} {spec[name]}" for name in ("lower", "upper", "step") if name in spec]
    return ", ".join(words)


def source_in_words(source: "Mapping[str, str]") -> str:
    """Return where a dataset's data are: a file, a view, or nowhere if vectors are pushed."""
    place = source.get("uri") or source.get("table")
    if place is None:
        return "vectors that are pushed"
    connection = source.get("connection")
    engine = f"{source['engine']} " if "table" in source else ""
    unseen = ", whose rows may change unseen" if source.get("snapshot") == "none" else ""
    return f"{engine}{place}" + (f", by connection {connection}" if connection else "") + unseen


def unit_in_words(unit: object) -> str | None:
    """Return a privacy unit in words: a column, rows, or an event."""
    if isinstance(unit, dict):
        return ", ".join(f"{kind} {value}" for kind, value in unit.items())
    return None if unit is None else str(unit)


def budget_of(budget: "DatasetBudgetView") -> Document:
    """Return the budget of a dataset, with one row for each tier."""
    columns = (
        Column("tier"),
        *(Column(f"{name}_epsilon", right=True) for name in ("granted", "spent", "remaining")),
        Column("delta", right=True),
        Column("remaining_share", percent, right=True),
        Column("spent_by"),
    )
    rows = [
        (
            tier.tier,
            tier.granted.epsilon,
            tier.spent.epsilon,
            tier.remaining.epsilon,
            tier.granted.delta,
            tier.remaining_share,
            ", ".join(f"{query.query} {percent(query.share)}" for query in tier.queries),
        )
        for tier in budget.tiers
    ]
    facts = [
        f"{budget.dataset}, version {budget.version}, which new queries are charged to",
        *(
            f"  {tier.tier}: epsilon {short(tier.spent.epsilon)} of {tier.granted.epsilon:g}"
            " spent over all versions that one privacy unit may be in"
            + (" and datasets of the same people" if budget.same_people else "")
            for tier in budget.together
        ),
    ]
    note = (
        "Shares add up to 100%, epsilons do not: 'spent' is the composed epsilon of all queries,"
        " 'remaining' is the epsilon of the largest single query that still fits."
    )
    return Document(
        budget,
        columns,
        rows,
        facts if budget.earlier or budget.same_people else (),
        note=note if rows else "No tier has a budget for this dataset.",
    )
