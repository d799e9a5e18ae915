"""Build a Merkle tree over the leaves of a log (RFC 9162, section 2), without keys or rows.

* ``tree``    hashes, the right edge at which a tree grows, and the hashes of a proof
* ``proofs``  the verification of proofs

A tree is stored as the hashes of its complete subtrees, each written once: about one for every
leaf.  A proof reads O(log n) of them.
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
