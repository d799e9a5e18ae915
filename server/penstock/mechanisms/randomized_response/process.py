"""Draw randomized response: noise on the integers modulo ``k``, as a process (Warner 1965).

The level is the probability ``p`` of keeping the answer; otherwise it is replaced by one of all
``k``, each as likely.  From ``a`` to a smaller ``b`` an answer is kept with probability ``b/a``:
kept twice is kept, and a uniform answer stays uniform.  So answers at any levels in any order are
post-processing of the most accurate of them, as for noise on the integers (Andersson, Retschmeier,
Nelson, Pagh 2025, Definition 1.1).

*Local*: a person draws the anchor, hands it out, and keeps or forgets the true answer; whoever
receives the anchor may place others, and the person has the privacy of the anchor.  *Central*: a
holder of everybody's answers does the same with a vector of them, of which a person changes one.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from penstock.errors import InvalidInput
from penstock.mechanisms.process import IntVector
from penstock.mechanisms.randomized_response.law import Bridge, renyi_divergence
from penstock.privacy.guarantee import Cost, Definition, Guarantee
from penstock.randomness.bernoulli import Threshold, bernoulli, exact_decimal
from penstock.randomness.stream import Stream

LARGEST = 1 << 20
"""The most categories."""

Answers = tuple[Fraction, IntVector]
"""The probability of keeping, and the answers, from 0 to ``k - 1``."""


@dataclass(frozen=True)
class RandomizedResponse:
    """Draw answers among ``categories``.  Raises ``InvalidInput`` for fewer than 2 of them."""

    categories: int

    def __post_init__(self) -> None:
        if not 2 <= self.categories <= LARGEST:
            raise InvalidInput(
                f"Answers have from 2 to {LARGEST} categories, not {self.categories}."
            )

    def anchor(self, answers: ArrayLike, keep: Fraction, stream: Stream) -> IntVector:
        """Return the most accurate answers to be handed out: the only draw that sees the true ones.

        ``answers`` are integers from 0 to ``categories - 1``.  Raises ``InvalidInput``, which names
        none of them, for others; and for a ``keep`` of 1, which hides nothing, or below 0.
        """
        exact = self._checked(answers)
        _check_falling(Fraction(1), keep)
        return self._moved(exact, self.increment(Fraction(1), keep, len(exact), stream))

    def place(
        self, accurate: Answers, noisy: Answers | None, keep: Fraction, stream: Stream
    ) -> IntVector:
        """Return answers between the nearest known ones, or with more noise than all of them.

        Raises ``InvalidInput`` for levels out of order, and for answers that are not as many.
        """
        start, values = accurate
        if noisy is None:
            return self._moved(values, self.increment(start, keep, len(values), stream))
        end, far = noisy
        if values.shape != far.shape:
            raise InvalidInput(f"{len(values)} answers and {len(far)} are not of the same people.")
        difference = (far - values) % self.categories
        return self._moved(values, self.bridge(start, end, difference, keep, stream))

    def raised(
        self, answers: ArrayLike, noisy: Answers, keep: Fraction, stream: Stream
    ) -> IntVector:
        """Return answers more accurate than all known ones: the bridge from the true answers."""
        return self.place((Fraction(1), self._checked(answers)), noisy, keep, stream)

    def increment(
        self, accurate: Fraction, noisy: Fraction, size: int, stream: Stream
    ) -> IntVector:
        """Draw ``X(noisy) - X(accurate)`` modulo ``categories``: shape ``(size,)``.

        Raises ``InvalidInput`` for levels out of order.
        """
        _check_falling(accurate, noisy)
        out = np.zeros(size, dtype=np.int64)
        self._spread(out, np.flatnonzero(_events(1 - noisy / accurate, size, stream)), stream)
        return out

    def bridge(
        self,
        accurate: Fraction,
        noisy: Fraction,
        difference: IntVector,
        keep: Fraction,
        stream: Stream,
    ) -> IntVector:
        """Draw ``X(keep) - X(accurate)`` given ``X(noisy) - X(accurate) = difference``.

        Raises ``InvalidInput`` for levels out of order.
        """
        _check_falling(accurate, keep, noisy)
        law = Bridge.between(accurate, keep, noisy, self.categories)
        out = np.zeros(len(difference), dtype=np.int64)
        together = np.flatnonzero(difference == 0)
        self._spread(out, together[_events(law.parted, len(together), stream)], stream)
        apart = np.flatnonzero(difference)
        apart = apart[~_events(law.still, len(apart), stream)]
        arrived = _events(law.arrived / (1 - law.still), len(apart), stream)
        out[apart[arrived]] = difference[apart[arrived]]
        self._spread(out, apart[~arrived], stream)
        return out

    def guarantee(self, keep: Fraction, changed: int = 1) -> Guarantee:
        """Return pure ``ln(1 + k p / (1-p))`` for each of the ``changed`` answers of one person."""
        return Guarantee(Definition.PURE, self.cost(keep, math.inf, changed).loss, delta=0.0)

    def cost(self, keep: Fraction, order: float, changed: int = 1) -> Cost:
        """Return the exact Rényi divergence of ``changed`` answers, with failure 0."""
        _check_falling(Fraction(1), keep)
        loss = renyi_divergence(keep, self.categories, order)
        return Cost(loss=changed * loss, failure=0.0)

    def keep_for(self, epsilon: float) -> Fraction:
        """Return the probability of keeping at which an answer is ``epsilon``-private.

        It is ``(e^epsilon - 1) / (e^epsilon - 1 + k)``, rounded down.
        """
        if not 0 < epsilon < 700:
            raise InvalidInput(f"An epsilon is above 0 and below 700, not {epsilon:g}.")
        kept = math.expm1(epsilon) / (math.expm1(epsilon) + self.categories)
        keep = Fraction(kept)
        while keep == 1 or self.guarantee(keep).epsilon > epsilon:
            kept = math.nextafter(kept * (1 - 2.0**-52), 0.0)
            keep = Fraction(kept)
        return keep

    def _moved(self, values: IntVector, by: IntVector) -> IntVector:
        by += values
        by %= self.categories
        return by

    def _spread(self, out: IntVector, at: IntVector, stream: Stream) -> None:
        out[at] = stream.generator.integers(0, self.categories, len(at))

    def _checked(self, answers: ArrayLike) -> IntVector:
        given = np.asarray(answers)
        whole = given.ndim == 1 and given.size and given.dtype.kind in "iu"
        if not whole or int(given.min()) < 0 or int(given.max()) >= self.categories:
            raise InvalidInput(
                f"Answers are a vector of integers from 0 to {self.categories - 1}, and at least"
                " one; some are not."
            )
        return given.astype(np.int64)


def _events(chance: Fraction, size: int, stream: Stream) -> NDArray[np.bool_]:
    """Draw events of a rational probability, exactly."""
    threshold = Threshold.of(exact_decimal(chance), partial(_quotient, chance))
    return bernoulli(threshold, size, stream)


def _quotient(chance: Fraction) -> Decimal:
    return Decimal(chance.numerator) / Decimal(chance.denominator)


def _check_falling(*keeps: Fraction) -> None:
    if keeps[0] > 1 or keeps[-1] < 0 or any(high <= low for high, low in pairwise(keeps)):
        raise InvalidInput(
            "Probabilities of keeping must fall from at most 1 to at least 0, these do not: "
            + ", ".join(f"{float(keep):g}" for keep in keeps)
        )
