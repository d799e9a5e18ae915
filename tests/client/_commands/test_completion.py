"""Test ``penstock-client completion``: what it prints completes commands and options in bash."""

from collections.abc import Callable

import pytest
from tests.completions import completed

PROGRAM = "penstock-client"


def test_bash_completes_commands_and_options() -> None:
    assert completed(PROGRAM, "expo") == ["exposure"]
    assert completed(PROGRAM, "exposure", "--dat") == ["--dataset"]
    assert completed(PROGRAM, "completion", "") == ["bash", "zsh", "fish"]
    assert completed(PROGRAM, "nothing-like-this") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_own(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], shell: str
) -> None:
    assert run("completion", shell) == 0
    assert f"_PENSTOCK_CLIENT_COMPLETE={shell}_complete" in capsys.readouterr().out


def test_another_shell_is_a_mistake_of_usage(run: Callable[..., int]) -> None:
    assert run("completion", "csh") == 2
