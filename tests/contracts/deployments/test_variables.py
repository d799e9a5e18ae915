"""Test that every variable in every file of ``deploy/`` is a setting that this version knows."""

from pathlib import Path

import pytest
from tests.contracts.deployments.deployment_files import DEPLOY, files, named_variables

from penstock.setting_sign_on import SECRET
from penstock.setting_sources import load
from penstock.settings import PREFIX, Settings

KNOWN = {PREFIX + name.upper() for name in Settings.model_fields} | {
    f"{PREFIX}{name.upper()}_FILE"
    for name, field in Settings.model_fields.items()
    if field.json_schema_extra == SECRET
}
OTHERS = {"PENSTOCK_CONFIG", "PENSTOCK_URL", "PENSTOCK_TOKEN", "PENSTOCK_SHARED_MEMORY"}
"""The file of settings, what clients read, and what gunicorn's master tells its workers."""


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(DEPLOY)))
def test_every_variable_is_a_known_setting(path: Path) -> None:
    assert named_variables(path.read_text()) - KNOWN - OTHERS == set()


def test_a_variable_that_is_no_setting_is_noticed() -> None:
    text = "PENSTOCK_PORT=8080 PENSTOCK_PROT=8081 PENSTOCK_HOME_FILE=/x PENSTOCK_CONNECTION_A=b"
    assert named_variables(text) - KNOWN == {"PENSTOCK_PROT", "PENSTOCK_HOME_FILE"}


def test_the_example_of_an_environment_can_be_read() -> None:
    """The file that systemd's units read: every line is a variable, and the settings accept it."""
    lines = (DEPLOY / "systemd/environment.example").read_text().splitlines()
    given = dict(
        line.removeprefix("#").split("=", 1) for line in lines if line.startswith(("P", "#P"))
    )
    settings, _ = load({name: value for name, value in given.items() if "_FILE" not in name})
    assert settings.home == Path("/var/lib/penstock/home")
    assert set(given) <= KNOWN
