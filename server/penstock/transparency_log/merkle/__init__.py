"""Build a Merkle tree over the leaves of a log (RFC 9162, section 2), without keys or rows.

* ``tree``    hashes, the right edge at which a tree grows, and which hashes a proof is made of
* ``proofs``  whether a proof shows what it should

A tree is kept as the hashes of its complete subtrees, each written once: about one for
every leaf, and a proof is read from O(log n) of them.
"""

from penstock.transparency_log.merkle.proofs import consistent, included
from penstock.transparency_log.merkle.tree import (
    EMPTY,
    Frontier,
    Node,
    consistency_spans,
    hashes_of,
    inclusion_spans,
    leaf_hash,
    node_hash,
    peaks,
)

__all__ = [
    "EMPTY",
    "Frontier",
    "Node",
    "consistency_spans",
    "consistent",
    "hashes_of",
    "included",
    "inclusion_spans",
    "leaf_hash",
    "node_hash",
    "peaks",
]
