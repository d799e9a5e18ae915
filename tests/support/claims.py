"""Provide the list of guarantees, read: one claim a row, with what keeps it and what shows it."""

import re
from dataclasses import dataclass
from typing import Final

from tests.support.places import ROOT

LISTED: Final = ROOT / "server/penstock/GUARANTEES.md"


@dataclass(frozen=True)
class Claim:
    """Hold one row of the list: functions that keep it, tests and mutants by their names."""

    id: str
    kind: str
    functions: tuple[str, ...]
    tests: tuple[str, ...]
    mutants: tuple[str, ...] = ()


def claims(text: str) -> list[Claim]:
    """Return the rows of ``text``, in their order."""
    found = []
    for block in re.split(r"(?m)^(?=\*\*[A-Z]\d+\.\*\*)", text)[1:]:
        fields = {
            name: re.search(rf"(?m)^- {name}: ((?:.|\n  )+)$", block)
            for name in ("kind", "kept by", "can fail", "mutants")
        }
        texts = {name: match.group(1) if match else "" for name, match in fields.items()}
        found.append(
            Claim(
                id=re.match(r"\*\*(\w+)", block)[1],  # type: ignore[index]  # the block begins so
                kind=texts["kind"],
                functions=tuple(re.findall(r"`([\w.]+)`", texts["kept by"])),
                tests=tuple(re.findall(r"`([\w./:]+)`", texts["can fail"])),
                mutants=tuple(re.findall(r"`([\w-]+)`", texts["mutants"])),
            )
        )
    return found
