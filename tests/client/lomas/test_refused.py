"""Test that lomas's other libraries are refused, with what to do instead."""

import pytest

from penstock_client import InvalidArgument
from penstock_client.lomas.refused import REASONS, Refused


@pytest.mark.parametrize("library", REASONS)
def test_every_method_says_what_to_do_instead(library: str) -> None:
    refused = Refused(library)
    for call in (refused.query, refused.cost):
        with pytest.raises(InvalidArgument, match=f"{library} queries are not answered here"):
            call("a pipeline", epsilon=1.0, dummy=True)
