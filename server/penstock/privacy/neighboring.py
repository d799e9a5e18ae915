"""Which two datasets count as neighbors: the unit of what is protected."""

from enum import StrEnum


class NeighboringRelation(StrEnum):
    """How two neighboring datasets differ, always by one whole privacy unit."""

    ADD_REMOVE = "add_remove"
    REPLACE = "replace"
