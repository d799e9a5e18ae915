"""Release running sums by the k-ary tree, with or without subtraction, or the binary mechanism.

Andersson, Pagh, Torkamani 2024 (*Count on Your Elders*), Theorems 1.1 and 3.7 and their
appendix on even arities.  A prefix ``t`` is written in base ``k`` with digits around 0
(with subtraction) or from 0 on (without); it has as many nodes as its digits add up to.
With ``k = 2`` and no subtraction it is the binary mechanism (Dwork, Naor, Pitassi,
Rothblum 2010; Chan, Shi, Song 2011).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from penstock.errors import InvalidInput
from penstock.privacy.sensitivity import Sensitivity
from penstock.structures.shared_nodes import (
    MOST_CHOSEN,
    NONE,
    SINGLE,
    Best,
    beside,
    counted,
    repeated,
)
from penstock.structures.streams.forest import ROOT, chain, check_length, check_step


@dataclass(frozen=True)
class KaryTree:
    """Represent a tree of arity ``k`` over ``length`` steps.

    ``subtracting`` allows negative digits, which needs ``k`` of at least 3.  Raises
    ``InvalidInput`` for a ``k`` below 3, or below 2 without subtraction.
    """

    length: int
    k: int
    subtracting: bool = True

    def __post_init__(self) -> None:
        check_length(self.length)
        if self.k < (3 if self.subtracting else 2):
            raise InvalidInput(
                f"The arity of a tree is at least 2, or 3 if it subtracts, not {self.k}.",
                pointer="/k",
            )

    @property
    def largest_digit(self) -> int:
        """Return the largest digit; the smallest is this less ``k - 1``."""
        return self.k // 2 if self.subtracting else self.k - 1

    def capacity(self, height: int) -> int:
        """Return how many steps a tree of ``height`` levels holds: all its digits the largest."""
        return self.largest_digit * (_power(self.k, height) - 1) // (self.k - 1)

    @cached_property
    def height(self) -> int:
        """Return ``h``, the least number of levels that holds ``length`` steps."""
        height = 1
        while self.capacity(height) < self.length:
            height += 1
        return height

    @cached_property
    def lossless(self) -> bool:
        """Return True if no output up to the last needs a node beyond it.

        Nodes on the way from ``t`` lie between ``t`` and its rounded values, which do not
        decrease in ``t``; so the last output has the farthest.
        """
        return max(chain(self, self.length)) == self.length

    @property
    def past_only(self) -> bool:
        """Return True unless it subtracts: then outputs are rounded up to nodes beyond them."""
        return not self.subtracting

    @property
    def column_l1(self) -> Fraction:
        """Return ``h``: an element counts in at most one node of each level."""
        return Fraction(self.height)

    @property
    def column_l2_squared(self) -> Fraction:
        """Return ``h``, as every entry is 0, 1 or -1."""
        return Fraction(self.height)

    @property
    def nodes_a_step(self) -> int:
        """Return ``h``."""
        return self.height

    def columns(self, count: int) -> Sensitivity:
        """Return the norms of the worst ``count`` columns, exactly up to 512; see ``Forest``.

        Beyond, the nodes of a level, which are apart, move by at most ``count`` together.
        """
        return _columns(self, min(count, self.length))

    def digits(self, step: int) -> list[int]:
        """Return the digits of ``step``, the least significant first."""
        digits = []
        while step:
            digit = step % self.k
            if digit > self.largest_digit:
                digit -= self.k
            digits.append(digit)
            step = (step - digit) // self.k
        return digits

    def node(self, step: int) -> int:
        """Return the step itself.  Raises ``InvalidInput`` for one outside of the stream."""
        check_step(self, step)
        return step

    def following(self, step: int, node: int) -> int:  # noqa: ARG002 - the protocol passes it
        """Return the next step."""
        return self.node(step + 1)

    def parent(self, node: int) -> int:
        """Return ``node`` without one unit of its least significant digit that is not 0."""
        unit, rest = 1, node
        while rest and rest % self.k == 0:
            rest //= self.k
            unit *= self.k
        if rest == ROOT:
            return ROOT
        return node - unit if rest % self.k <= self.largest_digit else node + unit

    def position(self, node: int) -> int:
        """Return the node's own number."""
        return node

    def weight(self, node: int) -> Fraction:  # noqa: ARG002 - the protocol passes it
        """Return 1: all nodes have the same noise."""
        return Fraction(1)

    def mean_nodes(self) -> Fraction:
        """Return the mean number of nodes of an output, over all steps, exactly."""
        total = sum(self._digit_sum(place, self.length + 1) for place in range(self.height))
        return Fraction(total, self.length)

    def most_nodes(self) -> int:
        """Return the number of nodes of the noisiest output."""
        return self._noisiest[0]

    @property
    def noisiest_step(self) -> int:
        """Return the last of the steps whose output has the most nodes."""
        return self._noisiest[1]

    @cached_property
    def _noisiest(self) -> tuple[int, int]:
        """Return the nodes and the step of the noisiest output."""
        shift = self.zero(self.height)
        nodes, plain = _largest_sum(self, self.height, shift, self.length + shift)
        return nodes, plain - shift

    def zero(self, places: int) -> int:
        """Return what to add so that numbers of ``places`` digits have plain digits from 0 on."""
        return (self.k - 1 - self.largest_digit) * (_power(self.k, places) - 1) // (self.k - 1)

    def _digit_sum(self, place: int, end: int) -> int:
        """Return the sum of the absolute digits at ``place`` of all numbers below ``end``.

        Shifted by ``_zero`` a digit is constant over blocks of ``k^place`` numbers, and
        repeats after ``k`` blocks.
        """
        lowest = self.largest_digit - self.k + 1
        before = [0]
        for digit in range(lowest, self.largest_digit + 1):
            before.append(before[-1] + abs(digit))

        def below(end: int) -> int:
            blocks, rest = divmod(end, _power(self.k, place))
            periods, plain = divmod(blocks, self.k)
            whole = periods * before[-1] + before[plain]
            return whole * _power(self.k, place) + rest * abs(plain + lowest)

        shift = self.zero(place + 1)
        return below(end + shift) - below(shift)


def binary_tree(length: int) -> KaryTree:
    """Return the binary mechanism over ``length`` steps."""
    return KaryTree(length, 2, subtracting=False)


def _power(base: int, exponent: int) -> int:
    """Return ``base`` to a power of at least 0, as an ``int``: mypy types ``**`` as ``Any``."""
    return int(base**exponent)


@lru_cache(maxsize=256)
def _columns(tree: KaryTree, count: int) -> Sensitivity:
    widest = min(count, _power(tree.k, tree.height - 1))
    if count <= MOST_CHOSEN:
        l1, l2_squared = (int(_best(tree, count, power)[count]) for power in (1, 2))
    else:
        l1 = count * tree.height
        l2_squared = count * sum(min(count, _power(tree.k, n)) for n in range(tree.height))
    return Sensitivity(Fraction(l1), Fraction(l2_squared), Fraction(widest))


def _best(tree: KaryTree, most: int, power: int) -> Best:
    """Return the best of all elements; see ``shared_nodes``.

    A stretch of ``k^n`` elements that begins at a multiple of that has a node, unless it is at the
    place of ``largest_digit`` among the ``k`` of the next larger stretch.  A node that ends behind
    the last element is used by outputs that are rounded up to it, if there are any.
    """
    missing = tree.largest_digit
    wholes = [SINGLE]
    for _ in range(1, tree.height):
        nodes = repeated(counted(wholes[-1], power), tree.k - 1, most)
        wholes.append(beside(nodes, wholes[-1], most))

    def first(elements: int, place: int) -> Best:
        """Return the best of the first elements of a stretch of ``k^place``."""
        if elements == 0 or place == 0:
            return SINGLE if elements else NONE
        unit = _power(tree.k, place - 1)
        full, rest = divmod(elements, unit)
        before = repeated(counted(wholes[place - 1], power), full - (full > missing), most)
        if full > missing:
            before = beside(before, wholes[place - 1], most)
        part = first(rest, place - 1)
        if full > missing or (full < missing and rest >= unit - tree.zero(place - 1)):
            part = counted(part, power)
        return beside(before, part, most)

    return first(tree.length, tree.height)


def _largest_sum(tree: KaryTree, places: int, least: int, most: int) -> tuple[int, int]:
    """Return the largest sum of absolute digits among numbers whose plain digits are in bounds.

    Also return the last of the numbers with that sum.  ``least`` and ``most`` are bounds on numbers
    of ``places`` plain digits, of which there is at least one.
    """
    if places == 0:
        return 0, 0
    lowest, block = tree.largest_digit - tree.k + 1, _power(tree.k, places - 1)
    if least <= 0 and most >= block * tree.k - 1:
        most_plain = block * tree.k - 1 if tree.largest_digit >= -lowest else 0
        return places * max(-lowest, tree.largest_digit), most_plain
    sums = []
    for plain in range(max(least // block, 0), min(most // block, tree.k - 1) + 1):
        start = plain * block
        bounds = max(least - start, 0), min(most - start, block - 1)
        inner, rest = _largest_sum(tree, places - 1, *bounds)
        sums.append((abs(plain + lowest) + inner, start + rest))
    return max(sums)
