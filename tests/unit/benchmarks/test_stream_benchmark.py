"""Test the benchmark of streams: where its noise stands, and what it compares."""

import pytest
from tests.benchmarks.running_sums import buffers, streams

from penstock.structures import KaryTree, smooth_binary


def test_noise_placed_in_a_stream_has_the_nodes_in_use_there() -> None:
    for forest in (KaryTree(1 << 24, 19), smooth_binary(1 << 24, pure=False)):
        noise = streams.placed(forest, 2, streams.TIERS, streams.numbered_streams("a test"))
        assert noise.step == 1 << 23
        assert [len(entry.own) for entry in noise.way] == [3] * len(noise.way)


def test_buffers_reach_the_error_of_the_square_root() -> None:
    said: list[str] = []
    found = buffers.measure(1, 20, said.append)
    assert len(said) == 1
    goals = [figure for figure in found if figure.goal is not None]
    assert [figure.goal.reached(figure.value) for figure in goals if figure.goal] == [True] * 3


@pytest.mark.nightly
def test_a_run_of_streams_compares_everything() -> None:
    said: list[str] = []
    found = streams.measure(1, 500, (4, 128, 8), said.append)
    goals = [figure for figure in found if figure.goal is not None]
    assert len(goals) == 3 * 3 + 3
    assert all(figure.value > 0 for figure in found)
