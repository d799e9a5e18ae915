"""Test that a stream's noise written as bytes goes on as before."""

from collections.abc import Callable
from hashlib import sha256

import numpy as np
import pytest
from tests.unit.structures.noisy_forests import FORESTS, LEVELS, MECHANISM, advance

from penstock.errors import InvalidInput
from penstock.randomness import Stream
from penstock.structures import Forest, KaryTree, NodeNoise
from penstock.structures.streams.node_state import from_bytes, to_bytes


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
    following = [advance(each, 20, lambda: Stream.from_key(key)) for each in (noise, again)]
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
