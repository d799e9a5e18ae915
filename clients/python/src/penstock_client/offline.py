"""Verify an export of the log without its server: ``python -m penstock_client.offline``.

Of this package it uses ``tree``, ``notes`` and ``ed25519``, which use the standard library alone
and can be copied beside it; nothing of it is the server's code.
"""

import argparse
import base64
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from penstock_client.notes import Checkpoint, opened
from penstock_client.tree import leaf_hash, root_of


def hashes(lines: Iterable[str]) -> Iterator[bytes]:
    """The hashes of an export's leaves.  Raises ``ValueError`` where it is not in order."""
    for place, line in enumerate(lines):
        entry = json.loads(line)
        if not isinstance(entry, dict) or entry.get("index") != place:
            raise ValueError(f"line {place + 1} is not leaf {place}")
        yield leaf_hash(base64.b64decode(str(entry.get("leaf")), validate=True))


def verify(export: Iterable[str], note: str, public: bytes) -> Checkpoint:
    """The checkpoint that an export was held to.  Raises ``ValueError`` where it does not fit.

    Leaves behind the checkpoint's size are not looked at.
    """
    checkpoint = opened(note, public)
    lines = (line for _, line in zip(range(checkpoint.size), export, strict=False))
    size, root = root_of(hashes(lines))
    if size != checkpoint.size:
        raise ValueError(f"the export has {size} leaves, the checkpoint {checkpoint.size}")
    if root != checkpoint.root:
        raise ValueError("the export's leaves have another root than the checkpoint")
    return checkpoint


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m penstock_client.offline", description=__doc__)
    parser.add_argument("export", type=Path, help="the answer to GET /api/v1/audit/export")
    parser.add_argument("checkpoint", type=Path, help="that to GET /api/v1/audit/checkpoint")
    parser.add_argument("--key", required=True, help="the log's public key, in hexadecimal")
    given = parser.parse_args(arguments)
    try:
        note = str(json.loads(given.checkpoint.read_text(encoding="utf-8"))["note"])
        with given.export.open(encoding="utf-8") as file:
            found = verify(file, note, bytes.fromhex(given.key))
    except (OSError, ValueError, KeyError, TypeError) as problem:
        sys.stderr.write(f"Not verified: {problem}.\n")
        return 1
    sys.stdout.write(f"verified {found.size} leaves, root {found.root.hex()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
