"""Test that all that the product runs with has a licence of the list."""

from importlib.metadata import Distribution
from pathlib import Path

import pytest
from tests.supply_chain.licenses import EXCEPTIONS, distributions, excess, licenses

PRODUCT = ("penstock", "penstock-client")


def written(folder: Path, lines: str, name: str = "sample") -> Distribution:
    """Return a distribution with these lines of metadata."""
    place = folder / f"{name.replace('-', '_')}-1.dist-info"
    place.mkdir()
    (place / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: 1\n{lines}\n")
    return Distribution.at(place)


def test_all_that_the_product_runs_with_has_a_licence_of_the_list() -> None:
    reached = distributions(PRODUCT)
    assert {"penstock", "penstock-client", "flask", "numpy", "psycopg", "authlib"} <= set(reached)
    assert "pytest" not in reached
    assert excess(PRODUCT) == {}


def test_every_exception_is_in_use_and_has_a_reason() -> None:
    reached = distributions(PRODUCT)
    for name, (license_, reason) in EXCEPTIONS.items():
        assert license_ in licenses(reached[name]), name
        assert reason


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("License-Expression: MPL-2.0 AND (Apache-2.0 OR MIT)", {"MPL-2.0", "Apache-2.0"}),
        ("License-Expression: GPL-3.0-only OR MIT", {"MIT"}),
        ("License-Expression: GPL-3.0-only", {"GPL-3.0-only"}),
        ("License: GPL", {"GPL"}),
        ("Classifier: License :: OSI Approved :: MIT License", {"MIT"}),
        ("Classifier: Topic :: Security", {""}),
    ],
)
def test_licences_are_read_from_each_place_that_has_them(
    tmp_path: Path, lines: str, expected: set[str]
) -> None:
    assert licenses(written(tmp_path, lines)) == expected


def test_a_dependency_with_another_licence_or_none_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    needs = "Requires-Dist: strict-sample\nRequires-Dist: bare-sample\nLicense: MIT"
    written(tmp_path, needs, "top-sample")
    written(tmp_path, "License-Expression: AGPL-3.0-only", "strict-sample")
    written(tmp_path, "", "bare-sample")
    assert excess(["top-sample"]) == {"strict-sample": {"AGPL-3.0-only"}, "bare-sample": {""}}
