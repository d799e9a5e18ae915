"""Test ``penstock-client completion``: what it prints completes commands and options in bash."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

FUNCTION = "_penstock_client_completion"


def completed(*words: str) -> list[str]:
    """Return what bash offers for the last of ``words``, in a shell that read our completions."""
    script = (
        f'eval "$(penstock-client completion bash)"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1));'
        f' {FUNCTION} penstock-client; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [bash, "--norc", "-c", script, "bash", "penstock-client", *words],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_bash_completes_commands_and_options() -> None:
    assert completed("expo") == ["exposure"]
    assert completed("exposure", "--dat") == ["--dataset"]
    assert completed("completion", "") == ["bash", "zsh", "fish"]
    assert completed("nothing-like-this") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_own(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], shell: str
) -> None:
    assert run("completion", shell) == 0
    assert f"_PENSTOCK_CLIENT_COMPLETE={shell}_complete" in capsys.readouterr().out


def test_another_shell_is_a_mistake_of_usage(run: Callable[..., int]) -> None:
    assert run("completion", "csh") == 2
