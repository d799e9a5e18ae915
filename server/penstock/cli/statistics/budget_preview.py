"""What other budgets, and people that datasets share, would mean: as tables."""

from typing import TYPE_CHECKING

from penstock.cli.output import Column, Document
from penstock.figures import percent

if TYPE_CHECKING:
    from penstock.services.exposure.same_people import SamePeoplePreviewView
    from penstock.services.previews.budget_preview import MovedBudgetsView


def moved(found: "MovedBudgetsView") -> Document:
    """One row for each tier whose budget would be another."""
    columns = (
        *(Column("tier"), *(Column(name, right=True) for name in ("before", "after"))),
        *(Column(name, percent, right=True) for name in ("spent_share", "spent_share_after")),
        *(Column(name, percent, right=True) for name in ("failure_share", "failure_share_after")),
        *(Column("fits"), Column("dearer")),
    )
    rows = [
        (
            *(one.tier, one.before.epsilon if one.before else None, one.after.epsilon),
            *(one.spent_share, one.spent_share_after),
            *(one.failure_share, one.failure_share_after),
            *(one.fits, ", ".join(query.query for query in one.dearer)),
        )
        for one in found.tiers
    ]
    notes = [found.refusal or "Nothing was done."]
    if found.second:
        notes.append("It takes another admin to approve it.")
    return Document(found, columns, rows, note=" ".join(notes))


def together(found: "SamePeoplePreviewView") -> Document:
    """One row for each tier that sees any of some datasets that hold the same people."""
    names = ("granted", "granted_there", "granted_together", "spent_together")
    columns = (Column("tier"), *(Column(name, right=True) for name in names))
    rows = [
        (
            one.tier,
            one.granted and one.granted.epsilon,
            one.granted_there and one.granted_there.epsilon,
            one.granted_together.epsilon,
            one.spent_together.epsilon,
        )
        for one in found.tiers
    ]
    fact = f"epsilons, if {', '.join(found.datasets)} hold the same people"
    return Document(found, columns, rows, [fact], note="Nothing was done.")
