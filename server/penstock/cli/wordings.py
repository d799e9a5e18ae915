"""Print and read the texts for readers of datasets, queries and streams."""

from typing import TYPE_CHECKING, Any

from penstock.cli.operator import Operator
from penstock.cli.specs import checked, content_of
from penstock.figures import printable

if TYPE_CHECKING:
    from penstock.services.schemas.wordings.wordings import WordingView


def wording_lines(view: "WordingView") -> list[str]:
    """Return the texts that there are, each in a line; of key labels their number."""
    labels = f"{len(view.labels):,}" if view.labels else ""
    texts = {
        "title": view.title,
        "description": " ".join(view.description.split()),
        "unit": view.unit,
        "tags": ", ".join(view.tags),
        "labels of keys": labels,
        "owners": ", ".join(view.owners),
    }
    return [f"  {name} {printable(text)}" for name, text in texts.items() if text]


def texts_in(operator: Operator, file: str) -> dict[str, Any]:
    """Return the texts of a file.  Raises ``InvalidInput`` with every place that is wrong."""
    from penstock.services.schemas.wordings.wordings import WordingChange, texts_of

    content = content_of(file, operator.settings.body_limit)
    return texts_of(checked(WordingChange, content))
