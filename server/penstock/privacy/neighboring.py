"""Define which two datasets count as neighbors: they differ by one privacy unit."""

from enum import StrEnum


class NeighboringRelation(StrEnum):
    """Name how two neighboring datasets differ, always by one whole privacy unit."""

    ADD_REMOVE = "add_remove"
    REPLACE = "replace"
