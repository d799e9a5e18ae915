"""Compare the columns of a view, which have types, with those that are declared."""

from collections.abc import Callable, Mapping

from penstock.connectors.planning.refusals import pointer
from penstock.connectors.specs.models import ColumnType, DatasetSpec
from penstock.errors import InvalidInput

Readable = Mapping[ColumnType, frozenset[str]]
"""The types of an engine's columns that are read as each declared type."""


def require_readable(
    dataset: DatasetSpec,
    types: Mapping[str, str],
    readable: Readable,
    *,
    short: str,
    kind_of: Callable[[str], str] = str,
) -> None:
    """Raise ``InvalidInput`` for declared columns that are missing or of another type.

    ``types`` are the view's, by column; ``kind_of`` returns one as ``readable`` has it, without its
    digits for example.  ``short`` is the engine's name of numbers of four bytes.
    """
    places = []
    for name, column in dataset.columns.items():
        at, own = pointer("columns", name), types.get(name)
        if own is None:
            places.append((at, "The view has no column of this name."))
        elif kind_of(own) not in readable[column.type]:
            sentence = (
                f"The view's column is of type {own}; one that is declared as {column.type} is of"
                f" type {', '.join(sorted(readable[column.type]))}. Cast it in the view."
            )
            if kind_of(own) == short and column.type == "number":
                sentence += " Four bytes hold another number than their text says."
            places.append((at, sentence))
    if places:
        raise InvalidInput(f"{places[0][0]}: {places[0][1]}", errors=places)
