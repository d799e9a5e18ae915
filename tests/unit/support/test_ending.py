"""Test that what the tests started ends with them, even if they are killed."""

import contextlib
import os
import select
import signal
import subprocess
import sys

import pytest

PARENT = """
import subprocess, sys, time
from tests.support import ending
first = ending.with_the_parent() if sys.argv[1] == "together" else None
child = subprocess.Popen(
    [sys.executable, "-S", "-c", "import time; print('here', flush=True); time.sleep(600)"],
    stdin=subprocess.DEVNULL,
    preexec_fn=first,
)
time.sleep(600)
"""
WAIT_SECONDS = 120.0


@pytest.mark.parametrize("how", ["together", "apart"])
def test_a_child_ends_with_the_tests_where_it_is_asked_to(how: str) -> None:
    """The broken variant, which asks for nothing, leaves its child behind."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, how], stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"here\n"
        parent.kill()
        parent.wait()
        # The pipe ends when nobody is left who could write to it.
        seconds = WAIT_SECONDS if how == "together" else 0.5
        ended, _, _ = select.select([parent.stdout], [], [], seconds)
        assert bool(ended) == (how == "together")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(parent.pid, signal.SIGKILL)
        parent.communicate()
