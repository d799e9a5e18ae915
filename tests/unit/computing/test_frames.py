"""Test frames: what was written is read, one after the other, and half of one is the end."""

import io
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.computing import frames
from penstock.computing.frames import HEAD, TooLong, read, written

DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(DOCUMENTS, max_size=5))
def test_documents_are_read_in_the_order_in_which_they_were_written(
    documents: list[object],
) -> None:
    source = io.BytesIO(b"".join(map(written, documents)))
    assert [read(source) for _ in documents] == documents
    assert read(source) is None


@pytest.mark.parametrize("kept", range(len(written([1, 2]))))
def test_a_frame_that_is_cut_short_is_the_end(kept: int) -> None:
    assert read(io.BytesIO(written([1, 2])[:kept])) is None


def test_numbers_without_an_end_are_carried() -> None:
    document = read(io.BytesIO(written([math.inf, -math.inf, math.nan])))
    assert document is not None
    assert document[:2] == [math.inf, -math.inf]
    assert math.isnan(document[2])


def test_a_document_that_is_too_long_is_refused_with_its_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(frames, "LONGEST", 10)
    assert len(written("12345678")) == HEAD.size + 10
    with pytest.raises(TooLong, match="a document has 11 bytes, more than 10"):
        written("123456789")
