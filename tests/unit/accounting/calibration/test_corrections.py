"""Test layouts of corrections: they keep their epsilon, and none nearby is better."""

import math
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.support.places import ROOT

from penstock.accounting import power_choice
from penstock.accounting.calibration.corrections import (
    LEAST_SHARE,
    CorrectionChoice,
    best_correction,
)
from penstock.errors import InvalidInput
from penstock.mechanisms import SparseVectorCorrection
from penstock.privacy import Sensitivity

MANY = 1_024
README = ROOT / "server/penstock/mechanisms/generalized_gaussian/README.md"


def counts(number: int) -> Sensitivity:
    return Sensitivity(Fraction(number), Fraction(number), Fraction(1))


@pytest.fixture(scope="module")
def found() -> CorrectionChoice:
    return best_correction(Fraction(1), counts(MANY), MANY, 1.0, 1e-6, cutoffs=(2, 4, 8))


@pytest.mark.slow
def test_the_layout_keeps_its_epsilon_and_wastes_none(found: CorrectionChoice) -> None:
    assert found.correction.delta(1.0) <= 1e-6
    assert found.correction.guarantee(1e-6).epsilon == pytest.approx(1.0, rel=1e-4)


def test_laplace_noise_gains_by_a_correction(found: CorrectionChoice) -> None:
    plain = power_choice(Fraction(1), counts(MANY), MANY, 1.0, 1e-6)
    assert 1.08 < plain.expected_maximum / found.expected_maximum < 1.11
    assert found.correction.search.cutoff == 4


@pytest.mark.parametrize(
    ("dimension", "delta", "cutoffs"),
    [(4, 1e-2, (1,)), pytest.param(64, 1e-6, (1, 32), marks=pytest.mark.nightly)],
)
def test_noise_of_the_best_power_gains_nothing(
    dimension: int, delta: float, cutoffs: tuple[int, ...]
) -> None:
    kept = counts(dimension), dimension, 1.0, delta
    plain = power_choice(Fraction(3), *kept)
    corrected = best_correction(Fraction(3), *kept, cutoffs=cutoffs)
    assert corrected.expected_maximum > plain.expected_maximum
    # What is left of the search is the least that it may be.
    assert float(corrected.correction.search.epsilon) == pytest.approx(LEAST_SHARE, rel=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("factor", [Fraction(4, 5), Fraction(5, 4)])
@pytest.mark.parametrize("changed", ["threshold", "split", "cutoff"])
def test_layouts_beside_it_are_worse(
    found: CorrectionChoice, changed: str, factor: Fraction
) -> None:
    search = found.correction.search
    if changed == "threshold":
        other = replace(search, threshold=round(search.threshold * factor))
    elif changed == "cutoff":
        cutoff = search.cutoff * 2 if factor > 1 else search.cutoff // 2
        other = replace(search, cutoff=cutoff)
    else:
        part = search.threshold_epsilon * factor
        other = replace(search, threshold_epsilon=part, query_epsilon=search.epsilon - part)
    beside = replace(found.correction, search=other)
    beside = scaled_to(beside, 1e-6)
    assert beside.expected_maximum(MANY) > found.expected_maximum


def scaled_to(correction: SparseVectorCorrection, delta: float) -> SparseVectorCorrection:
    """Widen all noise of a layout until it keeps epsilon 1, if the cutoff asks for it."""
    widened = correction
    for _ in range(12):
        excess = math.log(widened.delta(1.0) / delta)
        factor = Fraction(math.exp(excess / 30))
        widened = replace(
            widened, scale=widened.scale * factor, anew_scale=widened.anew_scale * factor
        )
    return widened


@pytest.mark.parametrize(
    ("dimension", "epsilon", "delta", "told"),
    [
        (3, 1.0, 1e-6, "at least 4 values, not 3"),
        (64, 0.0, 1e-6, "not 0 and 1e-06"),
        (64, math.nan, 1e-6, "not nan and"),
        (64, 1.0, 0.0, "not 1 and 0"),
        (64, 1.0, 1.0, "not 1 and 1"),
    ],
)
def test_what_no_layout_keeps_is_refused(
    dimension: int, epsilon: float, delta: float, told: str
) -> None:
    with pytest.raises(InvalidInput, match=told):
        best_correction(Fraction(2), counts(dimension), dimension, epsilon, delta)


@pytest.mark.slow
def test_the_example_in_the_readme_runs() -> None:
    (example,) = re.findall(r"```py\n(.*?)```", README.read_text(), re.DOTALL)
    names: dict[str, object] = {"counts": np.arange(1_024)}
    exec(example, names)  # noqa: S102 - our own page
    assert len(np.asarray(names["values"])) == 1_024
    assert len(np.asarray(names["anew"])) <= 4
