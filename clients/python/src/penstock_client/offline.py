"""Verify an export of the log without its server: ``python -m penstock_client.offline``.

It needs only ``tree``, ``notes``, ``leaves``, ``nesting`` and ``ed25519`` from the folder ``_log``,
so these files can be copied together.  They need only the standard library, and use
``cryptography`` if it is installed.  They share no code with the server.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from penstock_client._log.leaves import decoded, stated
from penstock_client._log.nesting import shallow
from penstock_client._log.notes import Checkpoint, opened
from penstock_client._log.tree import leaf_hash, root_of

LONGEST_LINE = 2**26
"""The longest line that is read, in characters; a line is read as a whole."""


def lines_of(file: TextIO) -> Iterator[str]:
    """Yield the lines of an export.  Raises ``ValueError`` for one longer than any leaf."""
    while line := file.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE:
            raise ValueError(f"a line has {LONGEST_LINE:,} characters or more")
        yield line


def hashes(lines: Iterable[str]) -> Iterator[bytes]:
    """Yield the hashes of an export's leaves.  Raises ``ValueError`` if they are not in order."""
    for place, line in enumerate(lines):
        pairs = _pairs(line)
        index, leaf = (_only(pairs, name) for name in ("index", "leaf"))
        if type(index) is not int or index != place or not isinstance(leaf, str):
            raise ValueError(f"line {place + 1} is not leaf {place}")
        content = decoded(leaf)
        stated(content)
        yield leaf_hash(content)


def verify(export: Iterable[str], note: str, public: bytes) -> tuple[Checkpoint, int]:
    """Verify an export; return its checkpoint, and the number of leaves after that checkpoint.

    Those later leaves are well formed, but nothing proves that they are in the log.  Raises
    ``ValueError`` if the export does not match the checkpoint.
    """
    checkpoint = opened(note, public)
    leaf_hashes = hashes(export)
    size, root = root_of(leaf for _, leaf in zip(range(checkpoint.size), leaf_hashes, strict=False))
    if size != checkpoint.size:
        raise ValueError(f"the export has {size} leaves, and the checkpoint {checkpoint.size}")
    if root != checkpoint.root:
        raise ValueError("the root of the export's leaves differs from the checkpoint's")
    return checkpoint, sum(1 for _ in leaf_hashes)


def _only(pairs: list[tuple[str, object]], name: str) -> object:
    values = [value for key, value in pairs if key == name]
    return values[0] if len(values) == 1 else None


def _pairs(line: str) -> list[tuple[str, object]]:
    """Return names and values of one JSON object, repeated names included."""
    pairs = json.loads(shallow(line), object_pairs_hook=list)
    if not isinstance(pairs, list) or not all(isinstance(pair, tuple) for pair in pairs):
        raise ValueError("a line is not a JSON object")
    return pairs


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m penstock_client.offline", description=__doc__)
    parser.add_argument("export", type=Path, help="the answer to GET /api/v1/audit/export")
    parser.add_argument("checkpoint", type=Path, help="the answer to GET /api/v1/audit/checkpoint")
    parser.add_argument("--key", required=True, help="the log's public key, in hexadecimal")
    options = parser.parse_args(arguments)
    try:
        note = str(json.loads(shallow(options.checkpoint.read_text(encoding="utf-8")))["note"])
        with options.export.open(encoding="utf-8") as file:
            checkpoint, remaining = verify(lines_of(file), note, bytes.fromhex(options.key))
    except (OSError, ValueError, KeyError, TypeError) as problem:
        sys.stderr.write(f"Not verified: {problem}.\n")
        return 1
    sys.stdout.write(f"verified {checkpoint.size} leaves, root {checkpoint.root.hex()}\n")
    if remaining:
        sys.stdout.write(
            f"NOT verified: {remaining} leaves after these, which are newer than the checkpoint\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
