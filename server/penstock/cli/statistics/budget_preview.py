"""Print previews of changed budgets, and of datasets declared to have the same people."""

from typing import TYPE_CHECKING

from penstock.cli.output import Column, Document
from penstock.figures import percent

if TYPE_CHECKING:
    from penstock.services.exposure.same_people import SamePeoplePreviewView
    from penstock.services.previews.budget_preview import MovedBudgetsView


def moved(moved_budgets: "MovedBudgetsView") -> Document:
    """Return a preview of changed budgets, with one row for each tier that changes."""
    columns = (
        *(Column("tier"), *(Column(name, right=True) for name in ("before", "after"))),
        *(Column(name, percent, right=True) for name in ("spent_share", "spent_share_after")),
        *(Column(name, percent, right=True) for name in ("failure_share", "failure_share_after")),
        *(Column("fits"), Column("dearer", heading="queries that cost more")),
    )
    rows = [
        (
            *(tier.tier, tier.before.epsilon if tier.before else None, tier.after.epsilon),
            *(tier.spent_share, tier.spent_share_after),
            *(tier.failure_share, tier.failure_share_after),
            *(tier.fits, ", ".join(query.query for query in tier.dearer)),
        )
        for tier in moved_budgets.tiers
    ]
    notes = [moved_budgets.refusal or "Nothing was done: this is a preview."]
    if moved_budgets.second:
        notes.append("Another admin has to approve the change.")
    return Document(moved_budgets, columns, rows, note=" ".join(notes))


def together(same_people: "SamePeoplePreviewView") -> Document:
    """Return a preview of budgets added up, with one row for each tier that sees a dataset."""
    names = ("granted", "granted_there", "granted_together", "spent_together")
    columns = (Column("tier"), *(Column(name, right=True) for name in names))
    rows = [
        (
            tier.tier,
            tier.granted and tier.granted.epsilon,
            tier.granted_there and tier.granted_there.epsilon,
            tier.granted_together.epsilon,
            tier.spent_together.epsilon,
        )
        for tier in same_people.tiers
    ]
    fact = f"epsilons, if {', '.join(same_people.datasets)} have the same people"
    return Document(same_people, columns, rows, [fact], note="Nothing was done: this is a preview.")
