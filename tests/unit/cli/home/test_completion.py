"""Test ``penstock completion``: what it prints completes commands and options in bash."""

import pytest
from tests.completions import completed
from tests.unit.cli.program_runs import Run

PROGRAM = "penstock"


def test_bash_completes_commands_and_options() -> None:
    assert completed(PROGRAM, "bac") == ["backup"]
    assert completed(PROGRAM, "serve", "--wor") == ["--workers"]
    assert completed(PROGRAM, "completion", "") == ["bash", "zsh", "fish"]
    assert completed(PROGRAM, "nothing-like-this") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_own(here: Run, shell: str) -> None:
    printed = here("completion", shell)
    assert printed.code == 0
    assert f"_PENSTOCK_COMPLETE={shell}_complete" in printed.out


def test_another_shell_is_a_mistake_of_usage(here: Run) -> None:
    assert here("completion", "csh").code == 2
