"""Print datasets and their budgets: what several commands show in the same way."""

from typing import TYPE_CHECKING

from penstock.cli.output import Column, Document
from penstock.figures import moment, percent, short

if TYPE_CHECKING:
    from penstock.services.schemas.views import DatasetBudgetView, DatasetView


def shown(found: "DatasetView") -> Document:
    """The dataset's facts, and one row for each tier's budget."""
    facts = [
        f"{found.name}, version {found.version}, registered {moment(found.registered_at)}"
        + (f", declaration {found.declaration}" if found.declaration > 1 else "")
        + (", nobody in it being in an earlier one" if found.disjoint_units else ""),
        f"  source {found.source.get('uri', 'vectors that are pushed')}",
        (
            f"  privacy unit {unit_in_words(found.privacy_unit) or 'asserted with each vector'},"
            f" neighboring {found.neighboring}, delta {found.delta:g}"
            + (", charged in squares of mu" if found.accountant == "gaussian" else "")
        ),
    ]
    if found.same_people_as:
        facts.append(f"  the same people as {', '.join(found.same_people_as)}: losses add up")
    facts += [f"  column {name}: {_column(spec)}" for name, spec in found.columns.items()]
    columns = (*(Column("tier"), Column("epsilon", right=True), Column("delta", right=True)),)
    rows = [(tier, budget.epsilon, budget.delta) for tier, budget in found.budgets.items()]
    return Document(found, columns, rows, facts)


def _column(spec: dict[str, object]) -> str:
    words = [str(spec.get("type"))]
    categories = spec.get("categories")
    if isinstance(categories, list):
        words.append(f"{len(categories)} categories")
    words += [f"{name} {spec[name]}" for name in ("lower", "upper", "step") if name in spec]
    return ", ".join(words)


def unit_in_words(unit: object) -> str | None:
    """A privacy unit in words: a column, rows, or an event."""
    if isinstance(unit, dict):
        return ", ".join(f"{kind} {value}" for kind, value in unit.items())
    return None if unit is None else str(unit)


def budget_of(found: "DatasetBudgetView") -> Document:
    """One row for each tier."""
    columns = (
        Column("tier"),
        *(Column(f"{name}_epsilon", right=True) for name in ("granted", "spent", "remaining")),
        Column("delta", right=True),
        Column("remaining_share", percent, right=True),
        Column("spent_by"),
    )
    rows = [
        (
            one.tier,
            one.granted.epsilon,
            one.spent.epsilon,
            one.remaining.epsilon,
            one.granted.delta,
            one.remaining_share,
            ", ".join(f"{query.query} {percent(query.share)}" for query in one.queries),
        )
        for one in found.tiers
    ]
    facts = [
        f"{found.dataset}, version {found.version}, of which new queries are paid",
        *(
            f"  {one.tier}: epsilon {short(one.spent.epsilon)} of {one.granted.epsilon:g} spent"
            " over all versions that one privacy unit may be in"
            + (" and datasets of the same people" if found.same_people else "")
            for one in found.together
        ),
    ]
    note = (
        "Shares add up to 100%, epsilons do not: 'spent' is the composition of all queries,"
        " 'remaining' that of the largest single query that still fits."
    )
    return Document(
        found,
        columns,
        rows,
        facts if found.earlier or found.same_people else (),
        note=note if rows else "No tier has a budget in it.",
    )
