"""Define what readers were told, written down by themselves: it outlives a kill."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from tests.faults.stage import Ask

from penstock.services.releases.releases import Answer


@dataclass(frozen=True)
class Reported:
    """Hold one answer that reached a reader."""

    analyst: str
    ask: Ask
    release: str
    leaf_hash: str
    values: tuple[float, ...]

    @classmethod
    def of(cls, analyst: str, ask: Ask, answer: Answer) -> "Reported":
        """Return an answer, as it reached a reader."""
        view = answer.view
        values = tuple(np.asarray(view.values).tolist())
        return cls(analyst, ask, view.id, view.receipt.leaf_hash, values)


class Report:
    """Hold the answers that one process received, a line each."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def add(self, analyst: str, ask: Ask, answer: Answer) -> None:
        """Write down an answer, in one system call."""
        fields = asdict(Reported.of(analyst, ask, answer))
        os.write(self._descriptor, json.dumps(fields).encode() + b"\n")


def read(path: Path) -> list[Reported]:
    """Return the answers in a report; a last line without its end was never reported."""
    return parsed(path.read_bytes()) if path.exists() else []


def parsed(content: bytes) -> list[Reported]:
    """Return the answers in what was written to a report."""
    *lines, _ = content.split(b"\n")
    found = []
    for line in lines:
        fields = json.loads(line)
        ask, values = Ask(**fields.pop("ask")), tuple(fields.pop("values"))
        found.append(Reported(ask=ask, values=values, **fields))
    return found
