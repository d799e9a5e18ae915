"""Test the numbers and texts that server and client format with one file."""

import math

import pytest
from tests.support.places import ROOT

from penstock_client import figures
from penstock_client.figures import decimals, fixed, printable


def test_the_file_is_the_servers() -> None:
    assert figures.__file__ is not None
    assert (ROOT / "server/penstock/figures.py").samefile(figures.__file__)


@pytest.mark.parametrize(
    ("deviation", "digits"),
    [(45.03, 0), (10, 0), (9.99, 1), (1, 1), (0.5, 2), (0.045, 3), (4500, 0), (1e-30, 12)],
)
def test_an_error_leaves_two_digits(deviation: float, digits: int) -> None:
    assert decimals(deviation) == digits


@pytest.mark.parametrize("deviation", [0.0, -1.0, math.inf, math.nan])
def test_no_error_leaves_no_digits(deviation: float) -> None:
    assert decimals(deviation) == 0


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (31987.5, 0, "31,988"),
        (-0.3, 0, "0"),
        (-0.0, 2, "0.00"),
        (-1234.567, 1, "-1,234.6"),
        (1e300, 2, "1e+300"),
        (-0.004, 2, "0.00"),
    ],
)
def test_fixed_numbers(value: float, digits: int, text: str) -> None:
    assert fixed(value, digits) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Müller 東京", "Müller 東京"),
        ("a\nb", "a\\u000ab"),
        ("\x1b[31m", "\\u001b[31m"),
        ("\x9b31m", "\\u009b31m"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u2028b", "a\\u2028b"),
        ("👩\u200d🔬", "👩\u200d🔬"),
    ],
)
def test_nothing_steers_a_terminal(text: str, shown: str) -> None:
    assert printable(text) == shown
