"""Check the tokens that the tour shows."""

import sys
from pathlib import Path

import pytest

from penstock.demo import tour
from penstock.demo.cast import EVERYBODY
from penstock.demo.story import Story
from penstock.services.access.principals import authenticate
from penstock.services.context import Server
from penstock.settings import (
    Settings,
)


def test_every_token_signs_its_owner_in(told: Story, server: Server, settings: Settings) -> None:
    shown = tour.what_to_try(told, settings.home, settings, served=True)
    for person in EVERYBODY:
        principal = authenticate(server, told.tokens[person.name])
        assert (principal.name, set(principal.roles)) == (person.name, {person.role})
        assert told.tokens[person.name] in shown


def test_what_is_typed_works_in_a_terminal_in_another_folder(
    told: Story, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    client = tmp_path / "bin" / tour.CLIENT
    client.parent.mkdir()
    client.touch(mode=0o700)
    monkeypatch.setattr(sys, "executable", str(client.with_name("python")))
    monkeypatch.setenv("PATH", str(client.parent))
    monkeypatch.setattr(sys, "prefix", f"{sys.base_prefix}-of-its-own")
    shown = tour.what_to_try(told, Path("penstock-demo"), settings, served=True)
    assert f'export PATH={client.parent}:"$PATH"' in shown
    assert f"export PENSTOCK_HOME={tmp_path / 'penstock-demo'}" in shown
    alone = tour.what_to_try(told, Path("penstock-demo"), settings, served=False)
    assert "export PATH" not in alone
