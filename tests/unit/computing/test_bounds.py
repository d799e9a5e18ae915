"""Test what the operating system is told of a computation, tried in a process of its own."""

import json
import signal
import subprocess
import sys

import pytest

from penstock.computing.bounds import KINDNESS, PATIENCE, Bounds

ENDED = """
import json, os, resource
from penstock.computing import bounds
before = os.nice(0)
bounds.bind(2**32)
bounds.allow(0.5)
print(json.dumps([
    os.nice(0) - before,
    resource.getrlimit(resource.RLIMIT_CORE)[0],
    resource.getrlimit(resource.RLIMIT_AS)[0],
]), flush=True)
while True:
    pass
"""


def test_a_computation_may_last_longer_on_a_busy_machine() -> None:
    assert Bounds(seconds=3, memory=1).lasting == 3 * PATIENCE


@pytest.mark.skipif(sys.platform != "linux", reason="bounds of address space are Linux's")
def test_a_process_is_bound_and_ended_where_it_goes_on() -> None:
    child = subprocess.run([sys.executable, "-c", ENDED], capture_output=True, check=False)
    kindness, core, memory = json.loads(child.stdout)
    assert (core, memory) == (0, 2**32)
    assert 0 <= kindness <= KINDNESS  # at most 19 in all
    assert child.returncode == -signal.SIGXCPU
