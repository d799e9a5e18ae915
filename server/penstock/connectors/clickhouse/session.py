"""Run one SELECT over a view and relations of ours, in a ClickHouse that means what we mean."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import pyarrow as pa

PATIENCE: Final = 10
"""The seconds to wait for a connection."""

_LIMITED: Final = "read sort group_by join set distinct result transfer timeout"
_OVERFLOWS: Final = (
    *(f"{each}_overflow_mode" for each in _LIMITED.split()),
    *("read_overflow_mode_leaf", "timeout_overflow_mode_leaf"),
)
SETTINGS: Final[Mapping[str, str]] = {
    "enable_analyzer": "1",
    "session_timezone": "UTC",
    # A name is a column of the relation, even where the statement gives it to an expression too.
    "prefer_column_name_to_alias": "1",
    # NULL is no value everywhere, as elsewhere.
    "join_use_nulls": "1",
    "cast_keep_nullable": "1",
    "transform_null_in": "0",
    "group_by_use_nulls": "0",
    "aggregate_functions_null_for_empty": "0",
    # Numerals are the nearest doubles.
    "precise_float_parsing": "1",
    "bool_true_representation": "true",
    "bool_false_representation": "false",
    # A statement that reads a table twice reads the same rows.
    "enable_shared_storage_snapshot_in_query": "1",
    "use_query_cache": "0",
    # All rows, or an error: never what a limit lets through.
    "limit": "0",
    "offset": "0",
    "skip_unavailable_shards": "0",
    **dict.fromkeys(_OVERFLOWS, "throw"),
    "output_format_arrow_string_as_string": "1",
}
"""What statements mean, whatever the server's or the user's own settings are."""

_MEMORY = re.compile(r"(\d+)([KMGT])i?B")

Relations = Mapping[str, tuple[str, pa.Table]]
"""By name, the relations that a statement reads beside the view: their columns' types, and rows."""


@dataclass(frozen=True)
class Limits:
    """Hold what one statement may take: seconds; and memory and threads, inside this process."""

    memory: str | None = None
    threads: int | None = None
    seconds: float = 3600.0

    @property
    def everywhere(self) -> Mapping[str, str]:
        """Return the settings of a server too."""
        return {"max_execution_time": str(math.ceil(self.seconds))}

    @property
    def inside(self) -> Mapping[str, str]:
        """Return the settings of a ClickHouse in this process."""
        settings = dict(self.everywhere)
        if self.threads is not None:
            settings["max_threads"] = str(self.threads)
        amount = _MEMORY.fullmatch(self.memory or "")
        if amount is not None:
            power = "KMGT".index(amount[2]) + 1
            settings["max_memory_usage"] = str(int(amount[1]) << 10 * power)
        return settings


UNLIMITED: Final = Limits()
"""What the machine has, for an hour."""


class Session(Protocol):
    """Read with one connection; nothing that ClickHouse says is passed on."""

    @property
    def version(self) -> str:
        """Return ClickHouse's version."""

    def types(self, name: str) -> dict[str, str] | None:
        """Return the types of a view's columns by its quoted name; None if there is none.

        No row is read.
        """

    def table(self, text: str, relations: Relations) -> pa.Table:
        """Run one SELECT; return its rows."""

    def schema(self, text: str, relations: Relations) -> dict[str, str] | None:
        """Return the columns of a SELECT without running it; None if ClickHouse refuses it."""


def inside(text: str) -> str:
    """Return a text inside a SELECT, where what is no SELECT cannot stand."""
    return f"SELECT * FROM (\n{text}\n) AS answered"  # noqa: S608
