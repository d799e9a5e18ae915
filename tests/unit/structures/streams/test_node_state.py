"""A stream's noise written as bytes goes on as before."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from hashlib import sha256

import numpy as np
import pytest

from penstock.errors import InvalidInput
from penstock.mechanisms import IntVector, Laplace
from penstock.randomness import Stream
from penstock.structures import Epochs, Forest, KaryTree, NodeNoise, balanced, binary_tree
from penstock.structures.streams.node_state import from_bytes, to_bytes

FORESTS: list[Forest] = [
    binary_tree(200),
    KaryTree(100, 3),
    KaryTree(150, 4),
    KaryTree(180, 19),
    balanced(150),
    Epochs(),
    Epochs(5),
]


MECHANISM = Laplace(Fraction(1, 1024))


LEVELS = [Fraction(1), Fraction(4)]


@pytest.fixture
def streams() -> Callable[[], Stream]:
    numbers: Iterator[int] = iter(range(1_000_000))
    return lambda: Stream.from_key(sha256(f"node noise {next(numbers)}".encode()).digest())


def _advance(noise: NodeNoise, steps: int, streams: Callable[[], Stream]) -> IntVector:
    return np.stack(noise.advance(steps, streams))


@pytest.mark.parametrize("forest", FORESTS, ids=str)
@pytest.mark.parametrize("at", [0, 1, 37, 64])
def test_a_state_goes_on_where_it_stood(
    forest: Forest, at: int, streams: Callable[[], Stream]
) -> None:
    noise = NodeNoise.begin(MECHANISM, forest, 3, LEVELS)
    if at:
        noise.advance(at, streams)
    again = from_bytes(to_bytes(noise), MECHANISM, forest)
    assert to_bytes(again) == to_bytes(noise)
    assert (np.array(again.totals()) == np.array(noise.totals())).all()
    key = sha256(b"what follows").digest()
    following = [_advance(each, 20, lambda: Stream.from_key(key)) for each in (noise, again)]
    assert (following[0] == following[1]).all()


def test_a_damaged_state_is_refused(streams: Callable[[], Stream]) -> None:
    noise = NodeNoise.begin(MECHANISM, KaryTree(100, 3), 1, LEVELS)
    noise.advance(40, streams)
    state = to_bytes(noise)
    for damaged in (
        b"", b"{}\n", state[:-1], state[:-8], state[1:], state.replace(b'"step":40', b'"step":41'),
        state.replace(b'"version":1', b'"version":2'), b"[1]\n", b"7\n",
    ):  # fmt: skip
        with pytest.raises(InvalidInput):
            from_bytes(damaged, MECHANISM, KaryTree(100, 3))
    with pytest.raises(InvalidInput, match="another structure"):
        from_bytes(state, MECHANISM, KaryTree(100, 5))
