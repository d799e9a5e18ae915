"""Keep the home of the demo apart from any other, and from the settings of a real server."""

from pathlib import Path

import pytest
from tests.unit.demo.told import PORT, quiet

from penstock.demo import stage, story
from penstock.errors import Unavailable
from penstock.setting_sources import load
from penstock.settings import (
    Settings,
)


def test_a_place_that_cannot_be_written_is_named() -> None:
    with pytest.raises(Unavailable, match="--home"):
        story.tell(stage.settings(Path("/proc/nothing"), PORT), quiet)


def test_the_demo_reads_no_settings_of_a_real_server(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "penstock.toml").write_text('home = "/real"\nkeys_folder = "/real/keys"\n')
    inherited = {
        "PATH": "/bin",
        "PENSTOCK_DATABASE_URL": "sqlite:////real.db",
        "PENSTOCK_WITNESS_FOLDER": "/real/witness",
        "PENSTOCK_CONFIG": "/real/penstock.toml",
    }
    environment = stage.environment(settings, inherited)
    assert load(environment)[0] == settings
    assert environment["PATH"] == "/bin"
    assert not any("/real" in value for value in environment.values())
