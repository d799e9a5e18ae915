"""What callers send about the log."""

from pydantic import Field

from penstock.connectors.specs.fields import Spec
from penstock.encryption.notes import LARGEST


class CosignedNote(Spec):
    """A checkpoint as a note that a cosigner signed."""

    note: str = Field(max_length=LARGEST)
