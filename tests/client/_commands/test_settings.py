"""Test the options that stand before a command's name."""

import pytest

from penstock_client._commands.settings import Settings
from penstock_client._show.output import Column, Document, Format

DOCUMENT = Document({"a": 1}, [Column("a")], [(1,)], note="Look.")


def settings(form: Format) -> Settings:
    return Settings("http://127.0.0.1", "a-token", form, 1.0, insecure=False)


def test_a_note_is_for_readers_of_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    settings(Format.TABLE).print(DOCUMENT)
    assert capsys.readouterr() == ("a\n1\n", "Look.\n")
    settings(Format.CSV).print(DOCUMENT)
    assert capsys.readouterr() == ("a\n1\n", "")
    assert settings(Format.CSV).shown(DOCUMENT, Format.JSON).startswith("{")


def test_no_representation_holds_the_token() -> None:
    assert "a-token" not in repr(settings(Format.CSV))
