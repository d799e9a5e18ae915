"""Compare buffered noise with the square root: its error and state, and the time of its steps."""

from collections.abc import Callable, Sequence
from fractions import Fraction

from tests.benchmarks.figures import Figure, Goal, Print
from tests.benchmarks.pairing import in_turns, median
from tests.benchmarks.running_sums.streams import numbered_streams

from penstock.mechanisms import Gaussian
from penstock.structures.streams.buffered.encoder import encoder
from penstock.structures.streams.buffered.noise import BufferedNoise
from penstock.structures.streams.comparison import of_buffers, of_square_root

STEPS = 1_000
EXPONENTS = (10, 16, 20)
MECHANISM = Gaussian(Fraction(1, 1 << 16))
NEAR = Goal(1.01, at_most=True)


def measure(rounds: int = 7, steps: int = STEPS, say: Print = print) -> Sequence[Figure]:
    """Measure running sums by buffers: the largest variance at rho 1, numbers kept, and steps."""
    say("Running sums: one unit in one step, rounding left out; steps of one tier of one number.")
    names = {f"2^{exponent}": 1 << exponent for exponent in EXPONENTS}
    taken = in_turns(rounds, {name: _advancing(length, steps) for name, length in names.items()})
    figures = []
    for name, length in names.items():
        near = of_buffers(length, columns=1, rounded=1.0)
        root = of_square_root(length, pure=False, columns=1)
        over = near.largest_variance / root.largest_variance
        per_step = [seconds / steps for seconds in taken[name]]
        figures += [
            Figure(f"largest variance times rho, T = {name}", near.largest_variance, ""),
            Figure(f"the square root's, T = {name}", root.largest_variance, ""),
            Figure(f"over the square root's, T = {name}", over, "", goal=NEAR),
            Figure(f"numbers kept by a tier, T = {name}", near.kept, ""),
            Figure(f"the square root's numbers, T = {name}", root.kept, ""),
            median(f"a step, T = {name}", per_step, "ms", 1e3),
        ]
    endless = of_buffers(None, columns=1, rounded=1.0)
    return [
        *figures,
        Figure("largest variance times rho to 2^20, no end", endless.largest_variance, ""),
        Figure("numbers kept by a tier, no end", endless.kept, ""),
    ]


def _advancing(length: int, steps: int) -> Callable[[], object]:
    streams, matrix = numbered_streams("buffers"), encoder(length)

    def task() -> None:
        noise = BufferedNoise.begin(MECHANISM, matrix, 2, 1, [Fraction(1)])
        (drawn,) = noise.advance(steps, streams)
        assert drawn.shape == (steps, 1)

    return task
