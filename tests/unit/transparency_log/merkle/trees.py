"""Provide small Merkle trees by RFC 9162's definitions, and leaves its implementations share."""

import hashlib
from collections.abc import Sequence

from penstock.transparency_log import merkle
from penstock.transparency_log.merkle import Frontier, Node

LARGEST = 33
"""All trees up to here, and all proofs in them: every shape of five levels."""


# The leaves and roots that Certificate Transparency's implementations are tested with.
LEAVES = [
    bytes.fromhex(text)
    for text in (
        *("", "00", "10", "2021", "3031", "40414243"),
        *("5051525354555657", "606162636465666768696a6b6c6d6e6f"),
    )
]


ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def defined(hashes: Sequence[bytes]) -> bytes:
    """Return MTH as section 2.1.1 defines it."""
    if len(hashes) < 2:
        return hashes[0] if hashes else hashlib.sha256(b"").digest()
    k = max(2**i for i in range(10) if 2**i < len(hashes))
    both = defined(hashes[:k]) + defined(hashes[k:])
    return hashlib.sha256(b"\x01" + both).digest()


HASHES = [merkle.leaf_hash(bytes([number])) for number in range(LARGEST)]


OF_SIZE = [defined(HASHES[:size]) for size in range(LARGEST + 1)]


def grown(hashes: Sequence[bytes]) -> dict[Node, bytes]:
    nodes: dict[Node, bytes] = {}
    frontier = Frontier()
    for number, one in enumerate(hashes):
        nodes[0, number] = one
        nodes.update(frontier.add(one))
    return nodes


NODES = grown(HASHES)
