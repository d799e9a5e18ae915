"""Test how the settings of a sparse histogram are read."""

from typing import Any

import pytest

from penstock.structures.sparse_histogram.domain import Sha256Prefix
from penstock_client import InvalidArgument, ProtocolError
from penstock_client._http.fields import Fields
from penstock_client._values import histogram
from penstock_client._values.histogram import Histogram

ANSWER: dict[str, Any] = {
    "domain": {"type": "uint64"},
    "size": 2**64,
    "threshold": 40.5,
    "false_keys": 0.01,
    "appears": [{"count": 10, "probability": 0.02}, {"count": 80, "probability": 0.999}],
}


def test_a_histogram_says_how_likely_a_key_is_to_appear() -> None:
    shown = Histogram.read_from(Fields({"histogram": ANSWER}, "release"))
    assert shown is not None
    assert (shown.domain, shown.size) == ({"type": "uint64"}, 2**64)
    assert (shown.threshold, shown.false_keys) == (40.5, 0.01)
    assert shown.appears == {10: 0.02, 80: 0.999}


def test_any_other_query_has_none() -> None:
    assert Histogram.read_from(Fields({}, "release")) is None


@pytest.mark.parametrize("name", ANSWER)
def test_an_answer_that_leaves_something_out_is_refused(name: str) -> None:
    answer = {key: value for key, value in ANSWER.items() if key != name}
    with pytest.raises(ProtocolError, match=name):
        Histogram.read(Fields(answer, "histogram"))


@pytest.mark.parametrize("name", ["size", "false_keys"])
def test_what_cannot_be_nothing_is_above_0(name: str) -> None:
    with pytest.raises(ProtocolError, match=name):
        Histogram.read(Fields({**ANSWER, name: 0}, "histogram"))


def test_texts_that_one_has_stand_in_place_of_their_hashes() -> None:
    hashed = Histogram.read(Fields({**ANSWER, "domain": {"type": "sha256_64"}}, "histogram"))
    domain, texts = Sha256Prefix(), ("Öl", "", "the tale of a tub", "absent")
    keys = (domain.key_of("Öl"), "00" * 8, domain.key_of("the tale of a tub"), domain.key_of(""))
    found = hashed.texts_of(keys, [*texts, "Öl"])
    assert found == ("Öl", "00" * 8, "the tale of a tub", "")
    assert hashed.texts_of(keys, ()) == keys


def test_keys_that_are_no_hashes_have_no_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Histogram.read(Fields(ANSWER, "histogram"))
    with pytest.raises(InvalidArgument, match="the domain uint64"):
        plain.texts_of((7,), ["7"])
    hashed = Histogram.read(Fields({**ANSWER, "domain": {"type": "sha256_64"}}, "histogram"))
    monkeypatch.setattr(histogram, "DIGITS", 0)
    with pytest.raises(InvalidArgument, match="'one' and 'two' have the same key"):
        hashed.texts_of((), ["one", "one", "two"])
