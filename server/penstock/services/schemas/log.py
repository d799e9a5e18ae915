"""Describe what callers send about the log."""

from pydantic import Field

from penstock.encryption.notes import LARGEST
from penstock.spec_fields import Spec


class CosignedNote(Spec):
    """Represent a checkpoint as a note that a cosigner signed."""

    note: str = Field(max_length=LARGEST)
