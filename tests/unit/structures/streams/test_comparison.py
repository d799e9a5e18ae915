"""Test what structures are said to cost, against a count over all of their nodes."""

from fractions import Fraction

import numpy as np
import pytest

from penstock.errors import InvalidInput
from penstock.mechanisms import Gaussian, Laplace, Mechanism, Poisson
from penstock.privacy import Sensitivity
from penstock.structures import Epochs, Forest, KaryTree, SmoothBinary
from penstock.structures.factorization.square_root import square_root
from penstock.structures.streams.choice import best_tree, largest_squared_error, steadiest_tree
from penstock.structures.streams.comparison import Option, compare, described
from penstock.structures.streams.forest import chain, matrices

ELEMENT = Sensitivity(Fraction(3), Fraction(5, 2), Fraction(3, 2))
LENGTHS = [1, 2, 7, 20, 62, 100, 129, 250]

every_mechanism = pytest.mark.parametrize("mechanism", [Laplace, Gaussian])


def _forest(option: Option, steps: int) -> Forest:
    settings = dict(option.settings)
    if option.structure in ("binary", "kary"):
        return KaryTree(steps, settings["k"], subtracting=bool(settings["subtracting"]))
    if option.structure == "smooth_binary":
        return SmoothBinary(steps, **settings)
    assert option.structure == "epochs"
    return Epochs(settings["arity"])


def _node_variance(mechanism: type[Mechanism], loss: float, l1: float, l2_squared: float) -> float:
    """Return a node's variance.

    An element moves all nodes by ``l1`` and ``l2_squared`` together.
    """
    if mechanism is Laplace:
        return 2 * (l1 * float(ELEMENT.l1) / loss) ** 2
    return l2_squared * float(ELEMENT.l2_squared) / (2 * loss)


def _counted(forest: Forest, steps: int, mechanism: type[Mechanism], loss: float) -> list[float]:
    """Return the variance of each output, from the ways and from the columns of ``R``."""
    ways = [list(chain(forest, forest.node(step))) for step in range(1, steps + 1)]
    _, strategy = matrices(forest, steps)
    nodes = sorted({node for way in ways for node in way})
    weights = {node: float(forest.weight(node)) for node in nodes}
    parts = np.array([1 / weights[node] for node in nodes])
    moved = float((np.abs(strategy) * parts[:, None]).sum(axis=0).max())
    # A short stream may not yet meet the element that moves the most nodes.
    assert moved <= float(forest.column_l1) + 1e-12
    unit = _node_variance(mechanism, loss, float(forest.column_l1), float(forest.column_l2_squared))
    power = 2 if mechanism is Laplace else 1
    return [unit * sum(weights[node] ** power for node in way) for way in ways]


@every_mechanism
@pytest.mark.parametrize("length", LENGTHS)
def test_options_are_what_counting_finds(length: int, mechanism: type[Mechanism]) -> None:
    found = compare(length, mechanism, 0.7, ELEMENT, dimension=3)
    kinds = [option.structure for option in found]
    # Where the best tree of all is binary or the smooth one there is no other.
    assert set(kinds) >= {"binary", "epochs", "smooth_binary", "square_root"}
    assert ("kary" in kinds) == (best_tree(length, pure=mechanism is Laplace).k > 2)
    for option in found:
        if option.structure in ("square_root", "buffered"):
            continue
        forest = _forest(option, length)
        variances = _counted(forest, length, mechanism, 0.7)
        assert option.mean_variance == pytest.approx(np.mean(variances), rel=1e-12)
        assert option.largest_variance == pytest.approx(max(variances), rel=1e-12)
        assert variances[option.noisiest_step - 1] == pytest.approx(max(variances), rel=1e-12)
        ways = [list(chain(forest, forest.node(step))) for step in range(1, length + 1)]
        assert option.kept == 3 * max(map(len, ways))
        drawn = len({node for way in ways for node in way})
        assert option.drawn == option.added == pytest.approx(3 * drawn / length)
        assert option.lossless == forest.lossless or length == 1


@every_mechanism
def test_the_square_root_is_what_its_matrices_say(mechanism: type[Mechanism]) -> None:
    option = next(
        option
        for option in compare(60, mechanism, 2.0, ELEMENT, dimension=2)
        if option.structure == "square_root"
    )
    pair = square_root(60, digits=40)
    unit = _node_variance(
        mechanism, 2.0, float(pair.sensitivity.l1), float(pair.sensitivity.l2_squared)
    )
    variances = pair.variances(unit)
    assert option.mean_variance == pytest.approx(variances.mean(), rel=1e-8)
    assert option.largest_variance == pytest.approx(variances.max(), rel=1e-8)
    assert (option.kept, option.drawn, option.added) == (120, 2, 61)
    assert option.lossless


def root_mean(length: int, columns: int) -> float:
    unit = Sensitivity(Fraction(columns), Fraction(columns**2), Fraction(columns))
    found = compare(length, Gaussian, 2.0, unit, columns=columns)
    return next(one.mean_variance for one in found if one.structure == "square_root")


@pytest.mark.parametrize("columns", [1, 2, 7, 59, 60, 61, 200])
def test_the_square_root_counts_the_steps_of_a_unit_together(columns: int) -> None:
    places = np.arange(1, 60)
    column = np.concatenate([[1.0], np.cumprod(1 - 1 / (2 * places))])
    together = np.zeros(60)
    for first in range(min(columns, 60)):
        together[first:] += column[: 60 - first]
    norm = np.square(together).sum() / np.square(column).sum()
    assert root_mean(60, columns) == pytest.approx(root_mean(60, 1) * norm, rel=1e-9)


def test_units_in_very_many_steps_are_compared_at_once() -> None:
    """Column by column this takes hours, which anybody who may preview could ask for."""
    assert root_mean(1 << 20, 1 << 19) > root_mean(1 << 20, 1)


@every_mechanism
@pytest.mark.parametrize("steps", [1, 3, 37, 200])
def test_a_stream_without_an_end_is_offered_epochs(steps: int, mechanism: type[Mechanism]) -> None:
    found = compare(None, mechanism, 1.0, ELEMENT, horizon=steps)
    buffers = {"buffered"} if mechanism is Gaussian else set()
    assert {option.structure for option in found} == {"epochs"} | buffers
    for option in found:
        if option.structure in buffers:
            continue
        variances = _counted(Epochs(option.settings["arity"]), steps, mechanism, 1.0)
        assert option.mean_variance == pytest.approx(np.mean(variances), rel=1e-12)
        assert option.largest_variance == pytest.approx(max(variances), rel=1e-12)
        assert variances[option.noisiest_step - 1] == pytest.approx(max(variances), rel=1e-12)


def test_the_best_is_first_and_known_figures_are_found() -> None:
    one = Sensitivity(Fraction(1), Fraction(1), Fraction(1))
    pure = {option.structure: option for option in compare(250, Laplace, 1.0, one)}
    assert pure["binary"].mean_variance == pytest.approx(506.368)
    assert pure["kary"].mean_variance == pytest.approx(89.152)
    assert pure["smooth_binary"].largest_variance == 168
    rho = compare(250, Gaussian, 1.0, one)
    assert {option.structure for option in rho[:2]} == {"square_root", "buffered"}
    root = next(option for option in rho if option.structure == "square_root")
    assert root.mean_variance == pytest.approx(3.541119, rel=1e-6)
    means = [option.mean_variance for option in rho]
    assert means == sorted(means)


def test_the_best_arity_of_epochs_is_offered_beside_binary_trees() -> None:
    one = Sensitivity(Fraction(1), Fraction(1), Fraction(1))
    means = {}
    for arity in range(2, 33):
        forest = Epochs(arity)
        means[arity] = np.mean(_counted(forest, 300, Laplace, 1.0)) / 9
    found = {
        option.settings["arity"]: option for option in compare(None, Laplace, 1.0, one, horizon=300)
    }
    assert set(found) == {2, min(means, key=lambda arity: float(means[arity]))}
    assert all(
        option.mean_variance == pytest.approx(means[arity]) for arity, option in found.items()
    )


@pytest.mark.parametrize(
    ("length", "largest", "root", "kept"),
    [(2**16, 10.585, 10.564, 14), (2**20, 15.0285, 15.010, 18), (None, 27.09, None, 30)],
)
def test_buffers_have_the_error_of_the_square_root_and_keep_few_numbers(
    length: int | None, largest: float, root: float | None, kept: int
) -> None:
    one = Sensitivity(Fraction(1), Fraction(1), Fraction(1))
    found = {option.structure: option for option in compare(length, Gaussian, 1.0, one)}
    buffers = found["buffered"]
    assert buffers.largest_variance == pytest.approx(largest, rel=5e-4)
    assert (buffers.kept, buffers.drawn, buffers.noisiest_step) == (kept, 1, length or 2**20)
    if root is not None:
        assert found["square_root"].largest_variance == pytest.approx(root, rel=1e-4)
    others = [each for name, each in found.items() if name not in ("buffered", "square_root")]
    assert min(each.mean_variance for each in others) > 3 * buffers.mean_variance
    rounded = {o.structure: o for o in compare(length, Gaussian, 1.0, one, rounded=1.5)}
    assert rounded["buffered"].mean_variance == pytest.approx(1.5 * buffers.mean_variance)


@every_mechanism
def test_the_least_largest_error_is_offered_as_well(mechanism: type[Mechanism]) -> None:
    one, pure = Sensitivity(Fraction(1), Fraction(1), Fraction(1)), mechanism is Laplace
    apart = 0
    for length in (60, 100, 250, 1000):
        every = [KaryTree(length, k, subtracting=False) for k in range(2, 121)]
        every += [KaryTree(length, k) for k in range(3, 121)]
        least = min(largest_squared_error(tree, pure=pure) for tree in every)
        found = [
            option
            for option in compare(length, mechanism, 1.0, one)
            if option.structure in ("binary", "kary")
        ]
        assert min(option.largest_variance for option in found) == pytest.approx(float(least))
        apart += steadiest_tree(length, pure=pure) != best_tree(length, pure=pure)
    assert apart


@every_mechanism
def test_what_is_asked_for_is_offered_and_trees_only_add_where_they_must(
    mechanism: type[Mechanism],
) -> None:
    one = Sensitivity(Fraction(1), Fraction(1), Fraction(1))
    for asked in (
        KaryTree(100, 3, subtracting=False),
        SmoothBinary(100, 14, 3),
        Epochs(5, subtracting=False),
    ):
        found = compare(asked.length, mechanism, 1.0, one, forest=asked, past_only=True)
        kinds = [(option.structure, option.settings) for option in found]
        assert kinds.count(described(asked)) == 1
        assert not any(settings.get("subtracting") for _, settings in kinds)
    twice = compare(100, mechanism, 1.0, one, forest=best_tree(100, pure=mechanism is Laplace))
    assert twice == compare(100, mechanism, 1.0, one)
    assert any(option.settings.get("subtracting") for option in twice)


def test_epochs_reach_far_beyond_what_could_be_counted() -> None:
    one = Sensitivity(Fraction(1), Fraction(1), Fraction(1))
    far = compare(1 << 40, Gaussian, 1.0, one)
    assert "square_root" not in {option.structure for option in far}
    assert all(option.kept < 300 and option.drawn < 3 for option in far)


def test_impossible_comparisons_are_refused() -> None:
    with pytest.raises(InvalidInput, match="poisson"):
        compare(10, Poisson, 1.0, ELEMENT)
    for length, loss, dimension in [(0, 1.0, 1), (10, 0.0, 1), (10, float("nan"), 1), (10, 1.0, 0)]:
        with pytest.raises(InvalidInput):
            compare(length, Gaussian, loss, ELEMENT, dimension=dimension)
