"""Test the structure of a stream, read back from its row: trees, the square root, and buffers."""

from dataclasses import replace
from fractions import Fraction

import pytest
from tests.support.processes import ONE, gaussian

from penstock.errors import InvalidInput
from penstock.mechanisms import Gaussian, Laplace
from penstock.services.noise.kinds.buffered_shape import BufferedShape
from penstock.services.noise.kinds.stream import shape_of
from penstock.services.noise.kinds.stream_shape import RootShape, Shape, TreeShape
from penstock.services.noise.process import Process

TREE = TreeShape("kary", 200, 1, 3, "1", "100", k=2, subtracting=False)
ROOT = RootShape("square_root", 200, 1, 3, "1", "100")
BUFFERS = BufferedShape(
    "buffered", 200, 1, 3, "1", "100", output="1/4096", noise_step="1", moved=1, max_levels=4
)


@pytest.mark.parametrize(
    "shape", [TREE, ROOT, BUFFERS, replace(TREE, kind="epochs", length=None)], ids=str
)
def test_a_shape_is_read_back_as_what_it_is(shape: Shape) -> None:
    assert shape_of(shape.encoded()) == shape


def test_a_unit_adds_to_the_nodes_of_its_steps_or_to_all_of_a_square_root() -> None:
    assert TREE.numbers_of_a_unit == 3 * TREE.forest.nodes_a_step
    assert ROOT.numbers_of_a_unit == 200


def test_several_steps_of_a_unit_move_more_than_one() -> None:
    for shape in (TREE, ROOT, BUFFERS):
        once = replace(shape, max_steps_per_unit=1).sensitivity(ONE)
        assert shape.sensitivity(ONE).l2_squared > once.l2_squared


def test_only_the_square_root_has_a_lattice_of_its_own() -> None:
    assert TREE.fitted(Gaussian, Fraction(4)) == TREE
    assert TREE.charged_range(Fraction(1), Fraction(100)) == (Fraction(1), Fraction(100))
    fitted = ROOT.fitted(Gaussian, Fraction(4))
    assert fitted.output is not None
    step, bound = ROOT.charged_range(Fraction(1), Fraction(100))
    assert step < 1
    assert bound == 0


def test_a_stream_ends_with_its_last_element_or_never() -> None:
    assert (TREE.following(199), TREE.following(200)) == (200, None)
    assert replace(TREE, length=None, kind="epochs").following(10**9) == 10**9 + 1


def test_noise_comes_back_from_bytes_and_another_form_is_refused() -> None:
    process = gaussian()
    levels = [process.ladder.value(rung) for rung in (0, 5)]
    noise = TREE.begin(process, levels)
    assert TREE.restored(TREE.stored(noise), process).levels == levels
    for other in (ROOT, BUFFERS):
        with pytest.raises(TypeError, match="was used for"):
            other.stored(noise)
    with pytest.raises(TypeError, match="was used for"):
        TREE.stored(BUFFERS.begin(process, levels))


def test_levels_beyond_the_range_of_buffers_are_refused() -> None:
    process = gaussian()
    BUFFERS.require_reach(process, 0)
    unit = process.mechanism.granularity**2
    rungs = range(process.ladder.last + 1)
    far = next(rung for rung in rungs if process.ladder.value(rung) > unit * 2**84)
    BUFFERS.require_reach(process, far - 1)
    with pytest.raises(InvalidInput, match="too noisy for buffers"):
        BUFFERS.require_reach(process, far)


def test_buffers_take_gaussian_noise_alone() -> None:
    process = Process(*Laplace.plan(Fraction(1), Fraction(1), Fraction(100)), ONE)
    with pytest.raises(TypeError, match="not Gaussian"):
        BUFFERS.begin(process, [Fraction(1)])


def test_steps_that_are_no_multiple_of_the_lattice_are_refused() -> None:
    with pytest.raises(InvalidInput, match="not a multiple"):
        replace(TREE, step=f"1/{3 * 2**40}").scale(gaussian())


def test_a_comparison_knows_its_own_structure() -> None:
    assert ROOT.is_structure("square_root", {})
    assert not ROOT.is_structure("kary", {})
    assert BUFFERS.is_structure("buffered", {"buffers": 4})
    assert BUFFERS.compared is ROOT.compared is None
    assert TREE.compared is TREE.forest
