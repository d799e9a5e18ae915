"""Release streams without an end, in epochs of doubling length with a tree each.

Chan, Shi, Song 2011 (their hybrid mechanism) in the form of nodes: epoch ``m`` holds the
steps ``2^m`` to ``2^(m+1) - 1``.  Within it outputs are read from a tree over the epoch's
elements, on top of one node for each epoch before; its last output is its own epoch's node.
Half of the budget goes to epochs' nodes and half to the trees, so that weights are whole.
"""

from dataclasses import dataclass
from fractions import Fraction

from penstock.privacy.sensitivity import Sensitivity
from penstock.structures.streams.forest import ROOT, check_step
from penstock.structures.streams.kary import KaryTree

_EPOCH = 1 << 80
"""The factor of the epoch, counted from 1, in the number of a node.

The node within the epoch is added to it; 0 is the epoch's own node.
"""


@dataclass(frozen=True)
class Epochs:
    """Represent a stream of any length; ``arity`` is that of the trees, 2 for the binary mechanism.

    Trees of a higher arity subtract, unless ``subtracting`` is false.
    """

    arity: int = 2
    subtracting: bool = True

    @property
    def length(self) -> None:
        """Return None: there is no end."""
        return

    @property
    def lossless(self) -> bool:
        """Return True if trees only add, as there are then as many nodes as outputs.

        Others need nodes beyond their epoch.
        """
        return self.past_only

    @property
    def past_only(self) -> bool:
        """Return True unless trees subtract."""
        return self.arity == 2 or not self.subtracting

    @property
    def column_l1(self) -> Fraction:
        """Return 1: half from the epoch's node, half from the nodes of its tree, weighted."""
        return Fraction(1)

    @property
    def column_l2_squared(self) -> Fraction:
        """Return 1, as ``column_l1``, since entries are 0, 1 or -1."""
        return Fraction(1)

    @property
    def nodes_a_step(self) -> int:
        """Return 65: at most one for each bit of a step within 2^64 steps, and the epoch's."""
        return 65

    def columns(self, count: int) -> Sensitivity:
        """Return ``count`` times those of one column, as all may be in one long epoch."""
        return Sensitivity(Fraction(count), Fraction(count**2), Fraction(count))

    def node(self, step: int) -> int:
        """Return the node of output ``step``.  Raises ``InvalidInput`` below 1."""
        check_step(self, step)
        epoch = step.bit_length()
        within = step - (1 << (epoch - 1)) + 1
        tree = self._tree(epoch)
        inner = tree.node(within) if tree is not None and within <= tree.length else ROOT
        return epoch * _EPOCH + inner

    def following(self, step: int, node: int) -> int:  # noqa: ARG002 - the protocol passes it
        """Return the node of the next output."""
        return self.node(step + 1)

    def parent(self, node: int) -> int:
        """Return the parent within the tree, then from epoch to epoch down to the first."""
        epoch, inner = divmod(node, _EPOCH)
        tree = self._tree(epoch)
        above = tree.parent(inner) if tree is not None and inner != ROOT else ROOT
        return epoch * _EPOCH + above if above != ROOT else (epoch - 1) * _EPOCH

    def position(self, node: int) -> int:
        """Return how many elements the prefix of ``node`` has."""
        epoch, inner = divmod(node, _EPOCH)
        if epoch == 0:
            return 0
        tree = self._tree(epoch)
        if tree is None or inner == ROOT:
            return int((1 << epoch) - 1)
        # A tree that reaches past its epoch counts no elements there: its last nodes are noise.
        return int((1 << (epoch - 1)) - 1 + min(tree.position(inner), tree.length))

    def weight(self, node: int) -> Fraction:
        """Return 2 for an epoch's node, twice the height of its tree for the others."""
        epoch, inner = divmod(node, _EPOCH)
        tree = self._tree(epoch)
        return Fraction(2) if tree is None or inner == ROOT else 2 * tree.column_l1

    def _tree(self, epoch: int) -> "KaryTree | None":
        """Return the tree over all elements of the epoch but the last; None if there are none."""
        length = (1 << (epoch - 1)) - 1 if epoch > 0 else 0
        if length == 0:
            return None
        return KaryTree(length, self.arity, subtracting=not self.past_only)
