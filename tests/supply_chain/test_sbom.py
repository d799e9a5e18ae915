"""Test the bill of materials: all that is pinned, with version and hashes, reproducibly."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.supply_chain.making import make
from tests.support.places import ROOT

Pins = dict[tuple[str, str], set[str]]


def pinned(lock: str) -> Pins:
    """Return the hashes of each package and version of a lock file."""
    pins: Pins = {}
    for name, version, hashes in re.findall(
        r"(?m)^([\w.-]+)(?:\[[^]]*\])?==([^\s;]+)[^\n]*\n((?:    --hash=.*\n?)+)", lock
    ):
        pins[name, version] = set(re.findall(r"--hash=sha256:([0-9a-f]{64})", hashes))
    return pins


def listed(document: dict[str, Any]) -> Pins:
    """Return the hashes of each package and version of a bill of materials."""
    return {
        (component["name"], component["version"]): {
            value["content"]
            for reference in component["externalReferences"]
            for value in reference.get("hashes", ())
            if value["alg"] == "SHA-256"
        }
        for component in document["components"]
    }


@pytest.fixture(scope="module")
def lock() -> str:
    return (ROOT / "requirements.lock").read_text()


def test_the_bill_lists_all_that_is_pinned_and_is_the_same_whenever_it_is_made(
    lock: str, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        make("sbom", folder)
    written = (first / "sbom.cdx.json").read_bytes()
    assert written == (second / "sbom.cdx.json").read_bytes()
    document = json.loads(written)
    assert document["bomFormat"] == "CycloneDX"
    assert "serialNumber" not in document
    assert "timestamp" not in document["metadata"]
    assert document["metadata"]["component"]["name"] == "penstock"
    assert listed(document) == pinned(lock)


def test_every_line_of_the_lock_is_read(lock: str) -> None:
    pins = pinned(lock)
    assert len(pins) == len(re.findall(r"==", lock))
    assert sum(map(len, pins.values())) == lock.count("--hash=")
    assert all(pins.values())


def test_a_package_that_is_missing_or_has_another_hash_is_seen(lock: str) -> None:
    pins = pinned(lock)
    document = {
        "components": [
            {
                "name": name,
                "version": version,
                "externalReferences": [
                    {"hashes": [{"alg": "SHA-256", "content": value} for value in sorted(hashes)]}
                ],
            }
            for (name, version), hashes in pins.items()
        ]
    }
    assert listed(document) == pins
    components = document["components"]
    assert listed({"components": components[1:]}) != pins
    assert listed({"components": [{**components[0], "version": "0"}, *components[1:]]}) != pins
    assert (
        listed({"components": [{**components[0], "externalReferences": []}, *components[1:]]})
        != pins
    )
