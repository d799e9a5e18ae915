"""Test ``penstock completion``: what it prints completes commands and options in bash."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.cli.program_runs import Run

FUNCTION = "_penstock_completion"


def completed(*words: str) -> list[str]:
    """Return what bash offers for the last of ``words``, in a shell that read our completions."""
    script = (
        f'eval "$(penstock completion bash)"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1));'
        f' {FUNCTION} penstock; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [bash, "--norc", "-c", script, "bash", "penstock", *words],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_bash_completes_commands_and_options() -> None:
    assert completed("bac") == ["backup"]
    assert completed("serve", "--wor") == ["--workers"]
    assert completed("completion", "") == ["bash", "zsh", "fish"]
    assert completed("nothing-like-this") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_own(here: Run, shell: str) -> None:
    printed = here("completion", shell)
    assert printed.code == 0
    assert f"_PENSTOCK_COMPLETE={shell}_complete" in printed.out


def test_another_shell_is_a_mistake_of_usage(here: Run) -> None:
    assert here("completion", "csh").code == 2
