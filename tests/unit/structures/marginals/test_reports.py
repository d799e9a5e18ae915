"""Test the forms in which marginals are reported."""

import numpy as np
import pytest

from penstock.randomness.stream import Stream
from penstock.structures.marginals.reports import Form, reported


def test_forms_keep_what_they_say() -> None:
    table = np.array([[-3.25, 0.5, 2.5], [7.5, -0.125, 1.0]])
    nonnegative = reported(table, [Form.NONNEGATIVE])
    assert nonnegative.tolist() == [[0, 0.5, 2.5], [7.5, 0, 1]]
    assert reported(table, [Form.WHOLE]).tolist() == [[-3, 0, 2], [8, 0, 1]]
    assert reported(table, [Form.TOTAL_PRESERVING]).tolist() == table.tolist()
    kept = reported(table, [Form.NONNEGATIVE, Form.TOTAL_PRESERVING])
    assert kept.sum() == pytest.approx(table.sum(), abs=1e-12)
    assert kept.min() == 0
    whole = reported(table, list(Form))
    assert whole.sum() == round(table.sum())
    assert (whole == np.floor(whole)).all()
    assert reported(np.array([-5.0, -2.0]), list(Form)).tolist() == [0, 0]
    # Equal remainders: the first is rounded up.
    assert reported(np.array([0.5, 0.5, 1.0]), [Form.WHOLE, Form.TOTAL_PRESERVING]).tolist() == [
        *(1, 0, 1)
    ]


def test_no_other_table_of_that_total_that_is_not_negative_is_nearer() -> None:
    generator = Stream.from_key(bytes(31) + b"3").generator
    for _ in range(50):
        table = generator.normal(1, 3, 6)
        nearest = reported(table, [Form.NONNEGATIVE, Form.TOTAL_PRESERVING])
        total = max(table.sum(), 0.0)
        assert nearest.sum() == pytest.approx(total, abs=1e-9)
        for _ in range(20):
            other = generator.exponential(1, 6)
            other *= total / other.sum()
            assert ((nearest - table) ** 2).sum() <= ((other - table) ** 2).sum() + 1e-9
