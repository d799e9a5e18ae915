"""Present tiers and their holders as a ladder chart."""

from penstock.services.previews.clearance_preview import ClearancePreviewView, LadderView
from penstock.web.charts import ladder
from penstock.web.presenters.figure import Picture, picture


def shown(
    view: LadderView, title: str, clearance_preview: ClearancePreviewView | None = None
) -> Picture:
    """Return the ladder, with the preview of a move if there is one."""
    tiers = tuple(
        ladder.Tier(tier.name, tuple(tier.people), tier.description) for tier in view.tiers
    )
    move = None
    if clearance_preview is not None and clearance_preview.source != clearance_preview.target:
        move = ladder.Move(
            clearance_preview.user, clearance_preview.source, clearance_preview.target
        )
    shut_out = sum(tier.shut_out for tier in view.tiers)
    users = "1 disabled user keeps a" if shut_out == 1 else f"{shut_out} disabled users keep their"
    remark = f"{users} tier." if shut_out else ""
    content = ladder.Ladder(title, tiers, move)
    return picture(ladder.ladder, ladder.rows, content, "ladder", remark)
