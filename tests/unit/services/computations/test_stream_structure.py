"""Test which trees a stream gets, by its mechanism and its dataset's delta."""

from fractions import Fraction
from typing import Any

import pytest
from scipy.optimize import brentq

from penstock.accounting import account_of, level_for_share, pure_loss
from penstock.errors import InvalidInput
from penstock.mechanisms import Gaussian, Laplace
from penstock.privacy import Sensitivity
from penstock.services.computations.stream_structure import candidates, prepared, settled
from penstock.services.noise.kinds import stream
from penstock.services.noise.kinds.buffered_shape import BufferedShape
from penstock.services.noise.kinds.stream_shape import HEAVIEST, RootShape, Shape, TreeShape
from penstock.services.noise.process import Process
from penstock.services.schemas.streams import StreamRequest
from penstock.structures.streams.choice import best_structure, best_tree, mean_squared_error
from penstock.structures.streams.comparison import of_epochs
from penstock.structures.streams.epochs import Epochs
from penstock.structures.streams.forest import chain, matrices

STREAM: dict[str, Any] = {"name": "hits", "dataset": "clicks", "levels": {"public": {"epsilon": 1}}}
TREES: list[dict[str, Any]] = [
    *({"structure": kind, "length": 200} for kind in ("binary", "kary", "smooth_binary", "auto")),
    *({"structure": "kary", "length": 200, "k": k} for k in (2, 3, 4, 19)),
    *({"structure": kind, "length": None} for kind in ("binary", "auto")),
    *({"structure": "kary", "length": None, "k": k} for k in (2, 3, 8)),
]


def shape_of(terms: dict[str, Any], mechanism: str, delta: float) -> TreeShape:
    request = StreamRequest.model_validate({**STREAM, **terms, "mechanism": mechanism})
    shape = settled(request, 1, delta)
    assert isinstance(shape, TreeShape)
    return shape


def looks_ahead(shape: TreeShape) -> bool:
    """Return whether an output needs a node that counts an element after it."""
    forest = shape.forest
    return any(
        forest.position(node) > step
        for step in range(1, 201)
        for node in chain(forest, forest.node(step))
    )


@pytest.mark.parametrize("terms", TREES, ids=str)
def test_laplace_trees_look_at_the_past_alone_where_divergences_are_charged(
    terms: dict[str, Any],
) -> None:
    assert not looks_ahead(shape_of(terms, "laplace", 1e-6))


def test_laplace_trees_subtract_where_pure_losses_are_charged() -> None:
    assert looks_ahead(shape_of({"structure": "kary", "length": 200}, "laplace", 0.0))
    assert looks_ahead(shape_of({"structure": "kary", "k": 3, "length": None}, "laplace", 0.0))
    assert looks_ahead(shape_of({"structure": "kary", "k": 3, "length": 200}, "gaussian", 1e-6))


@pytest.mark.parametrize("length", [5, 200, 2**16])
def test_the_best_tree_without_subtraction_is_found(length: int) -> None:
    best = best_tree(length, pure=True, past_only=True)
    assert best.past_only
    any_tree = best_tree(length, pure=True)
    assert mean_squared_error(best, pure=True) >= mean_squared_error(any_tree, pure=True)
    shape = shape_of({"structure": "kary", "length": length}, "laplace", 1e-6)
    assert (shape.k, shape.subtracting) == (best.k, False)


def charged(terms: dict[str, Any]) -> tuple[int, Shape]:
    """Return how many numbers the sampler's error is charged over, of a unit in three steps."""
    whole = {**STREAM, **terms, "mechanism": "gaussian", "dimension": 2}
    request = StreamRequest.model_validate(whole)
    shape = settled(request, 3, 1e-6)
    return prepared(request, shape).dimension, shape


@pytest.mark.parametrize("terms", TREES, ids=str)
def test_draws_are_charged_for_every_node_that_a_unit_adds_to(terms: dict[str, Any]) -> None:
    numbers, shape = charged(terms)
    assert isinstance(shape, TreeShape)
    _, strategy = matrices(shape.forest, 200)
    nodes = int((strategy != 0).sum(axis=0).max())
    assert 2 * 3 * nodes <= numbers == 2 * 3 * shape.forest.nodes_a_step


def test_draws_of_a_square_root_are_charged_for_all_nodes() -> None:
    assert charged({"structure": "sqrt", "length": 200})[0] == 2 * 200


def test_draws_of_buffers_are_charged_at_every_step_for_the_numbers_that_a_unit_moves() -> None:
    endless = {"structure": "buffered", "length": None}
    numbers, shape = charged(endless)
    assert isinstance(shape, BufferedShape)
    # Three elements of l1 1 move three numbers in steps of 1, but there are two.
    assert shape.numbers_of_a_unit == 2
    joining = 2 * (len(shape.matrix.exponents) + 1)
    assert numbers == 2 * (2**40 + joining)


def auto(**terms: object) -> list[Shape]:
    whole = {**STREAM, "mechanism": "gaussian", "max_steps_per_unit": 1, **terms}
    return candidates(StreamRequest.model_validate(whole), 1, 1e-6)


@pytest.mark.parametrize(
    ("terms", "kind"),
    [
        ({"length": 1}, TreeShape),
        ({"length": 2**10}, RootShape),
        ({"length": 2**10, "dimension": 65}, BufferedShape),
        ({"length": 2**10 + 1}, BufferedShape),
        ({"length": 2**40}, BufferedShape),
        ({"length": None}, BufferedShape),
        ({"length": None, "dimension": 1000}, BufferedShape),
        # A unit moves all of the numbers, each of which is drawn in 2^40 steps.
        ({"length": None, "dimension": 1000, "step": 1 / 1024}, TreeShape),
        ({"length": 2**16, "mechanism": "laplace", "levels": {"public": {"level": 9}}}, TreeShape),
    ],
    ids=str,
)
def test_auto_is_the_least_error_that_fits(terms: dict[str, Any], kind: type[Shape]) -> None:
    best, *others = auto(**terms)
    assert isinstance(best, kind)
    # Levels that the best one does not take are for the tree.
    assert [type(other) for other in others] == [TreeShape] * (kind is not TreeShape)


@pytest.mark.parametrize(("delta", "k", "subtracting"), [(1e-6, 14, False), (0.0, 16, True)])
def test_auto_takes_epochs_of_the_arity_with_the_least_error(
    delta: float, k: int, subtracting: bool
) -> None:
    shape = shape_of({"structure": "auto", "length": None}, "laplace", delta)
    assert isinstance(shape, TreeShape)
    assert (shape.k, shape.subtracting) == (k, subtracting)
    steps = 1 << 20
    best, *others = (
        of_epochs(Epochs(arity, subtracting=subtracting and arity > 2), steps, pure=True)
        for arity in (k, *range(2, 33))
    )
    assert best.mean_variance == min(option.mean_variance for option in others)
    binary = others[0]
    assert best.mean_variance < 0.27 * binary.mean_variance
    named = shape_of({"structure": "binary", "length": None}, "laplace", delta)
    assert isinstance(named, TreeShape)
    assert named.k == 2


@pytest.mark.parametrize("terms", TREES, ids=str)
def test_a_shape_is_read_back_as_it_was_settled(terms: dict[str, Any]) -> None:
    shape = shape_of(terms, "laplace", 0.0)
    assert stream.shape_of(shape.encoded()) == shape


def test_an_endless_stream_keeps_room_for_its_heaviest_nodes() -> None:
    endless = shape_of({"structure": "binary", "length": None}, "gaussian", 1e-6)
    bounded = shape_of({"structure": "binary", "length": 200}, "gaussian", 1e-6)
    planned = Gaussian.plan(Fraction(100), Fraction(1), Fraction(2**31))
    process = Process(*planned, Sensitivity(Fraction(1), Fraction(1), Fraction(1)))
    bounded.require_reach(process, process.ladder.last)
    with pytest.raises(InvalidInput, match="too noisy for a stream without an end"):
        endless.require_reach(process, process.ladder.last)
    forest = endless.forest
    weights = (forest.weight(node) for node in chain(forest, forest.node(2**63 - 2)))
    assert max(weights) <= HEAVIEST


@pytest.mark.parametrize("steps", [64, 1024, 2**16])
@pytest.mark.parametrize(
    ("share", "least", "most"), [(0.1, 1.3, 2.0), (0.5, 1.0, 1.2), (1, 0.9, 1)]
)
def test_at_one_charge_a_laplace_tree_that_adds_is_the_better_one(
    steps: int, share: float, least: float, most: float
) -> None:
    """A tree that subtracts would be charged its pure epsilon, and gains near the whole budget."""
    account = account_of(1.0, 1e-6)
    adding = best_structure(steps, pure=True, past_only=True)
    moved = Sensitivity(adding.column_l1, adding.column_l2_squared, Fraction(1))
    scale = level_for_share(Laplace, share, moved, account, steps, 30, Fraction(1), Fraction(10**6))
    subtracting = best_structure(steps, pure=True)
    epsilon = brentq(lambda loss: pure_loss(loss, account.order) - share * account.limit, 1e-3, 20)
    other = float(subtracting.column_l1) / epsilon
    ratio = other**2 * float(subtracting.mean_nodes()) / float(scale**2 * adding.mean_nodes())
    assert least <= round(ratio, 2) <= most
