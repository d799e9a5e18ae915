"""Test sensitivities: exact, and refused where no vector could have them."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InvalidInput
from penstock.privacy import Sensitivity


@given(st.lists(st.fractions(min_value=-1000, max_value=1000), min_size=1, max_size=6))
def test_the_norms_of_every_vector_are_accepted(vector: list[Fraction]) -> None:
    if not any(vector):
        return
    norms = Sensitivity(
        l1=sum((abs(x) for x in vector), Fraction(0)),
        l2_squared=sum((x * x for x in vector), Fraction(0)),
        linf=max(abs(x) for x in vector),
    )
    assert Fraction(norms.l2) ** 2 >= norms.l2_squared
    assert norms.l2 <= float(norms.l2_squared) ** 0.5 * (1 + 2**-50)


@pytest.mark.parametrize(
    ("l1", "l2_squared", "linf", "pointer"),
    [
        (1, 2, 1, "/sensitivity/l2"),
        (3, 1, 2, "/sensitivity/linf"),
        (0, 0, 0, "/sensitivity"),
        (-1, 1, 1, "/sensitivity"),
    ],
)
def test_norms_that_contradict_each_other_are_refused(
    l1: int, l2_squared: int, linf: int, pointer: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        Sensitivity(Fraction(l1), Fraction(l2_squared), Fraction(linf))
    assert refusal.value.errors[0][0] == pointer
