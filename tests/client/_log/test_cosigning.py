"""Test a cosigner's key: its file, and its signatures as C2SP describes them."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.notes import by_the_letter

from penstock_client._log.cosigning import Cosigner
from penstock_client.errors import InvalidArgument, MissingExtra


def test_a_cosigners_key_is_a_file_of_its_own(tmp_path: Path) -> None:
    made = Cosigner.create(tmp_path / "key", "auditor.example/a")
    assert Cosigner.load(tmp_path / "key") == made
    assert made.seed.hex() not in repr(made)
    note = made.signed("log\n1\nAAAA\n\n\u2014 log AAAAAAAA\n", 7)
    assert by_the_letter(made.vkey, note) == 7
    with pytest.raises(InvalidArgument, match="new file"):
        Cosigner.create(tmp_path / "key", "auditor.example/a")
    with pytest.raises(InvalidArgument, match="no spaces"):
        Cosigner.create(tmp_path / "other", "an auditor")
    (tmp_path / "key").chmod(0o644)
    with pytest.raises(InvalidArgument, match="chmod 600"):
        Cosigner.load(tmp_path / "key")


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line.removeprefix("PRIVATE+KEY+"),
        lambda line: line.replace("auditor", "another"),
        lambda line: line[:-5] + "\n",
        lambda line: line.replace("+", " "),
        lambda _: "",
    ],
)
def test_a_file_that_was_altered_holds_no_key(tmp_path: Path, change: Callable[[str], str]) -> None:
    file = tmp_path / "key"
    Cosigner.create(file, "auditor.example/a")
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_text(change(file.read_text()))
    with pytest.raises(InvalidArgument, match="audit key"):
        Cosigner.load(file)


def test_without_its_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
    with pytest.raises(MissingExtra, match=r"penstock-client\[cosign\]"):
        Cosigner("auditor.example/a", bytes(32)).signed("log\n1\nAAAA\n\n", 7)
