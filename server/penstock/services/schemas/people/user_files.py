"""Read users to create from CSV with the columns name, roles and clearance."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from penstock.connectors.planning.refusals import checked
from penstock.errors import InvalidInput, MalformedInput
from penstock.services.schemas.people.users import MOST_USERS, UserSpec

COLUMNS = ("name", "roles", "clearance")


Names = tuple[str | None, str | None]
"""The names of a user and of their tier, as far as there are and can be such names."""


@dataclass(frozen=True)
class FileOfUsers:
    """Hold the users of a file, and every line: the names to look up, and each wrong place."""

    users: list[UserSpec] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    names: list[Names] = field(default_factory=list)
    wrong: list[tuple[int, str, str]] = field(default_factory=list)


def read_users(raw: bytes) -> FileOfUsers:
    """Return the users of a CSV file; lines count from 1, with the header.

    Roles are separated by spaces or semicolons; an empty clearance is none.  Raises
    ``MalformedInput`` if it is no CSV in UTF-8, ``InvalidInput`` if it has another header, no users
    or too many of them.
    """
    rows = [row for row in _rows(raw) if any(row[1])]
    if not rows:
        raise _refused(
            f"The file is empty. Its first line is {','.join(COLUMNS)}, and each line after it is a"
            " user, for example ann,analyst,public."
        )
    (_, header), *rest = rows
    if sorted(header) != sorted(COLUMNS):
        raise _refused(
            f"The first line must name the columns {', '.join(COLUMNS)}, separated by commas and"
            " each once."
        )
    if not rest:
        raise _refused("The file has a header and no users; add a line for each user.")
    if len(rest) > MOST_USERS:
        raise _refused(
            f"The file has {len(rest)} users, and one file creates at most {MOST_USERS}; split it."
        )
    file = FileOfUsers()
    for line, row in rest:
        _take(file, line, header, row)
    return file


def _refused(words: str) -> InvalidInput:
    return InvalidInput(words, errors=[("/csv", words)])


def _rows(raw: bytes) -> Iterator[tuple[int, list[str]]]:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MalformedInput(f"The file is not text in UTF-8 (byte {error.start}).") from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    first = 1
    try:
        for row in reader:
            yield first, [cell.strip() for cell in row]
            first = reader.line_num + 1
    except csv.Error:
        raise MalformedInput(
            f"The file is not CSV from line {first} on; check its quotes."
        ) from None


def _take(file: FileOfUsers, line: int, header: list[str], row: list[str]) -> None:
    if len(row) != len(header):
        words = f"The line has {len(row)} cells, and the header {len(header)}."
        file.wrong.append((line, "", words))
        return
    cells = dict(zip(header, row, strict=True))
    roles = [role for role in re.split(r"[\s;]+", cells["roles"]) if role]
    spec: dict[str, Any] = {
        "name": cells["name"],
        "roles": roles,
        "clearance": cells["clearance"] or None,
    }
    wrong: list[tuple[str, str]] = []
    try:
        file.users.append(checked(UserSpec, spec))
    except InvalidInput as problem:
        wrong = [(where.split("/")[1], words) for where, words in problem.errors]
    file.wrong.extend((line, column, words) for column, words in wrong)
    usable = {**spec, **dict.fromkeys(column for column, _ in wrong)}
    file.lines.append(line)
    file.names.append((usable["name"], usable["clearance"]))
