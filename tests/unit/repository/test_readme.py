"""What the README shows runs as it stands there."""

import json
import re

import numpy as np
from tests.support.places import ROOT

from penstock import examples
from penstock.services.schemas.queries import PushedVectorRequest

README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_library_example_runs_and_keeps_what_it_says() -> None:
    (example,) = blocks("python")
    names: dict[str, object] = {}
    exec(compile(example, "README.md", "exec"), names)  # noqa: S102 - the README's own example
    for name, deviation in (("public", 200), ("team", 10), ("partners", 50)):
        values = names[name]
        assert isinstance(values, np.ndarray)
        # Twelve standard deviations: once in 1e32.
        assert np.abs(values - [812, 455, 1290]).max() < 12 * deviation


def test_the_files_that_it_shows_are_the_ones_that_run() -> None:
    assert blocks("csv") == [examples.CSV]
    dataset, query, pushed = blocks("json")
    assert (dataset, query) == (examples.DATASET, examples.QUERY)
    assert PushedVectorRequest.model_validate(json.loads(pushed)).name == "beds"
