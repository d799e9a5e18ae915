"""Test that a cosigned checkpoint is a text of a length that a note can have."""

import pytest
from pydantic import ValidationError

from penstock.encryption.notes import LARGEST
from penstock.services.schemas.log import CosignedNote


def test_a_note_has_a_largest_length() -> None:
    assert CosignedNote(note="x" * LARGEST).note == "x" * LARGEST
    with pytest.raises(ValidationError, match=str(LARGEST)):
        CosignedNote(note="x" * (LARGEST + 1))
