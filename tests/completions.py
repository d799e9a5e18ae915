"""Complete words in bash, in a shell that read a program's own completions."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def completed(program: str, *words: str) -> list[str]:
    """Return what bash offers for the last of ``words`` behind ``program``; skip without bash."""
    function = f"_{program.replace('-', '_')}_completion"
    script = (
        f'eval "$({program} completion bash)"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1));'
        f' {function} {program}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [bash, "--norc", "-c", script, "bash", program, *words],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()
