"""Streams without an end: epochs of doubling length, each with a tree of its own.

Chan, Shi, Song 2011 (their hybrid mechanism) in the form of nodes: epoch ``m`` holds the
steps ``2^m`` to ``2^(m+1) - 1``.  Within it outputs are read from a tree over the epoch's
elements, on top of one node for each epoch before; its last output is its own epoch's node.
Half of the budget goes to epochs' nodes and half to the trees, so that weights are whole.
"""

from dataclasses import dataclass
from fractions import Fraction

from penstock.structures.streams.forest import ROOT, check_step
from penstock.structures.streams.kary import KaryTree

_EPOCH = 1 << 80
"""A node is its epoch, counted from 1, times this, plus its node within; 0 is the epoch's own."""


@dataclass(frozen=True)
class Epochs:
    """A stream of any length; ``arity`` is that of the trees, 2 for the binary mechanism.

    Trees of a higher arity subtract, unless ``subtracting`` is false.
    """

    arity: int = 2
    subtracting: bool = True

    @property
    def length(self) -> None:
        """No end."""
        return

    @property
    def lossless(self) -> bool:
        """Where trees only add there are as many nodes as outputs; others look past their epoch."""
        return self.past_only

    @property
    def past_only(self) -> bool:
        """Unless trees subtract."""
        return self.arity == 2 or not self.subtracting

    @property
    def column_l1(self) -> Fraction:
        """1: half from the epoch's node, half from the nodes of its tree, weighted."""
        return Fraction(1)

    @property
    def column_l2_squared(self) -> Fraction:
        """1, as ``column_l1``, since entries are 0, 1 or -1."""
        return Fraction(1)

    @property
    def nodes_a_step(self) -> int:
        """At most one for each bit of a step, and the epoch's: 65 within 2^64 steps."""
        return 65

    def node(self, step: int) -> int:
        """The node of output ``step``.  Raises ``InvalidInput`` below 1."""
        check_step(self, step)
        epoch = step.bit_length()
        within = step - (1 << (epoch - 1)) + 1
        tree = self._tree(epoch)
        inner = tree.node(within) if tree is not None and within <= tree.length else ROOT
        return epoch * _EPOCH + inner

    def following(self, step: int, node: int) -> int:  # noqa: ARG002 - every forest is asked so
        """The node of the next output."""
        return self.node(step + 1)

    def parent(self, node: int) -> int:
        """Within the tree, then from epoch to epoch down to the first."""
        epoch, inner = divmod(node, _EPOCH)
        tree = self._tree(epoch)
        above = tree.parent(inner) if tree is not None and inner != ROOT else ROOT
        return epoch * _EPOCH + above if above != ROOT else (epoch - 1) * _EPOCH

    def position(self, node: int) -> int:
        """How many elements the prefix of ``node`` has."""
        epoch, inner = divmod(node, _EPOCH)
        if epoch == 0:
            return 0
        tree = self._tree(epoch)
        if tree is None or inner == ROOT:
            return int((1 << epoch) - 1)
        # Where a tree looks past its epoch, nothing stands: its last nodes are noise alone.
        return int((1 << (epoch - 1)) - 1 + min(tree.position(inner), tree.length))

    def weight(self, node: int) -> Fraction:
        """2 for an epoch's node, twice the height of its tree for the others."""
        epoch, inner = divmod(node, _EPOCH)
        tree = self._tree(epoch)
        return Fraction(2) if tree is None or inner == ROOT else 2 * tree.column_l1

    def _tree(self, epoch: int) -> "KaryTree | None":
        """The tree over all elements of the epoch but the last, where there are any."""
        length = (1 << (epoch - 1)) - 1 if epoch > 0 else 0
        if length == 0:
            return None
        return KaryTree(length, self.arity, subtracting=not self.past_only)
