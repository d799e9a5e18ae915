"""Test that the margin of error of running totals grows with the nodes that a total is made of."""

from fractions import Fraction

import pytest
from tests.support.processes import gaussian

from penstock.services.noise.kinds.stream_errors import buffered_errors, forest_errors, root_errors
from penstock.structures import binary_tree


def test_a_total_of_one_node_is_off_by_as_much_as_one_draw() -> None:
    process = gaussian()
    (first,) = forest_errors(binary_tree(64), process, 9, [1], endless=False)
    assert first == process.error(9)


def test_variances_of_nodes_add_up() -> None:
    process = gaussian()
    one, three = forest_errors(binary_tree(64), process, 9, [1, 7], endless=False)
    assert three.standard_deviation == pytest.approx(3**0.5 * one.standard_deviation, rel=1e-6)


def test_a_square_root_is_off_by_all_noises_so_far_and_its_rounding() -> None:
    process = gaussian()
    plain = list(root_errors(64, Fraction(1, 2**20), process, 9, range(1, 65)))
    deviations = [error.standard_deviation for error in plain]
    assert deviations == sorted(deviations)
    (coarse,) = root_errors(64, Fraction(64), process, 9, [1])
    assert coarse.standard_deviation > deviations[0]
    assert coarse.half_width % 64 == 0


def test_buffers_are_off_as_the_square_root_is_and_few_of_many_steps_differ() -> None:
    process, lattice = gaussian(), Fraction(1, 2**20)
    near = list(buffered_errors(4096, lattice, process, 9, range(1, 4097)))
    root = list(root_errors(4096, lattice, process, 9, range(1, 4097)))
    for one, other in zip(near, root, strict=True):
        assert one.standard_deviation == pytest.approx(other.standard_deviation, rel=0.01)
    (alone,) = buffered_errors(4096, lattice, process, 9, [3000])
    assert alone == near[2999]
    far = [*buffered_errors(None, lattice, process, 9, range(10**7, 10**7 + 1000))]
    assert len({id(one) for one in far}) < 20
