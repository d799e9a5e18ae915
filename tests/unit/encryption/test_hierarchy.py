"""Test keys under keys, each for one dataset or query."""

from pathlib import Path

import pytest

from penstock.encryption import (
    Key,
    KeyProvider,
    KeyRing,
    dataset_context,
    new_dataset_kek,
    new_query_dek,
    unwrap_dataset_kek,
    unwrap_query_dek,
)
from penstock.errors import IntegrityViolation


@pytest.fixture
def provider(tmp_path: Path) -> KeyProvider:
    return KeyRing.create(tmp_path / "keyring.json")


def test_a_key_unwraps_for_its_own_dataset_and_query(provider: KeyProvider) -> None:
    kek = unwrap_dataset_kek(
        provider, wrapped := new_dataset_kek(provider, "flights@1"), "flights@1"
    )
    again = unwrap_dataset_kek(provider, wrapped, "flights@1")
    assert kek.material == again.material
    dek = new_query_dek(kek, "flights@1", "by carrier")
    assert unwrap_query_dek(kek, dek, "flights@1", "by carrier").id != kek.id


def test_the_key_of_another_dataset_is_refused(provider: KeyProvider) -> None:
    wrapped = new_dataset_kek(provider, "flights@1")
    with pytest.raises(IntegrityViolation):
        unwrap_dataset_kek(provider, wrapped, "flights@2")


def test_the_key_of_another_query_or_dataset_is_refused(provider: KeyProvider) -> None:
    kek = unwrap_dataset_kek(provider, new_dataset_kek(provider, "a@1"), "a@1")
    other = unwrap_dataset_kek(provider, new_dataset_kek(provider, "a@1"), "a@1")
    wrapped = new_query_dek(kek, "a@1", "q")
    for wrong in ((kek, "a@1", "r"), (kek, "a@2", "q"), (other, "a@1", "q")):
        with pytest.raises(IntegrityViolation):
            unwrap_query_dek(wrong[0], wrapped, wrong[1], wrong[2])


def test_a_dataset_key_does_not_pass_for_a_query_key(provider: KeyProvider) -> None:
    wrapped = new_dataset_kek(provider, "a@1")
    kek = unwrap_dataset_kek(provider, wrapped, "a@1")
    with pytest.raises(IntegrityViolation):
        unwrap_query_dek(kek, wrapped, "a@1", "q")


def test_a_shredded_key_is_refused(provider: KeyProvider) -> None:
    with pytest.raises(IntegrityViolation, match="cut short"):
        unwrap_dataset_kek(provider, b"", "a@1")


def test_every_key_is_new(provider: KeyProvider) -> None:
    keks = [unwrap_dataset_kek(provider, new_dataset_kek(provider, "a@1"), "a@1") for _ in range(9)]
    assert len({kek.material for kek in keks}) == 9


def test_the_context_of_a_dataset_is_what_rewrapping_needs(tmp_path: Path) -> None:
    ring = KeyRing.create(tmp_path / "keyring.json")
    wrapped = new_dataset_kek(ring, "a@1")
    before = unwrap_dataset_kek(ring, wrapped, "a@1")
    ring.renew(dataset_context("a@1"))
    rewrapped = ring.rewrap(wrapped, dataset_context("a@1"))
    assert rewrapped != wrapped
    assert unwrap_dataset_kek(ring, rewrapped, "a@1").material == before.material


def test_every_query_has_a_key_of_its_own() -> None:
    kek = Key.fresh()
    wrapped = {name: new_query_dek(kek, "sites@1", name) for name in ("a", "b", "c")}
    keys = [unwrap_query_dek(kek, one, "sites@1", name) for name, one in wrapped.items()]
    assert len({key.material for key in keys} | {kek.material, bytes(32)}) == 5
