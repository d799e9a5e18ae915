"""Test that secrets are rotated while a server of two workers answers: no request fails."""

import re
import subprocess
import sys
from collections.abc import Iterator
from os import environ

import pytest
from tests.api.served.under_load.readers import FREELY, Reader, go_on, load, serving, signed_in
from tests.api.world import furnish
from tests.contracts.running import Running
from tests.databases.homes import Home, Homes


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Return a home to be copied."""
    made = Homes(None).empty(tmp_path_factory.mktemp("model") / "home")
    furnish(made)
    return made


@pytest.fixture(scope="module")
def lasting(model: Home, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, str]]:
    """Yield a server of two workers, and a good token."""
    with serving(model, tmp_path_factory.mktemp("rotated"), FREELY + "workers = 2\n") as found:
        yield found


def penstock(started: Running, *arguments: str) -> str:
    """Return what a command of the operator prints, at the machine of the server."""
    found = subprocess.run(
        [sys.executable, "-P", "-m", "penstock", *arguments],
        env={**environ, "PENSTOCK_HOME": started.environment["PENSTOCK_HOME"]},
        cwd=started.folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return found.stdout


def test_no_request_fails_while_secrets_are_rotated(lasting: tuple[Running, str]) -> None:
    started, token = lasting
    unused = penstock(started, "token", "create", "ian", "--format", "json")
    unused = unused.partition('"token": "')[2].partition('"')[0]
    readers: list[Reader]
    with load(started, token) as readers:
        for _ in range(2):
            for name in ("pepper", "values", "fingerprint"):
                assert "newest" in penstock(started, "keys", "rotate-secret", name)
                go_on(readers, started)
        said = penstock(started, "keys", "drop-secret", "pepper")
        assert re.search(r" 1 +retired +[1-9]", said)
        penstock(started, "keys", "drop-secret", "pepper", "--yes")
        go_on(readers, started)
    assert [fault for reader in readers for fault in reader.faults] == []
    answers = [answer for reader in readers for answer in reader.answers]
    assert len(set(answers)) == 1
    assert answers[0][0] == 200
    assert [signed_in(started, token) for _ in range(6)] == [200] * 6
    assert {signed_in(started, unused) for _ in range(6)} == {401}
    assert "traceback" not in started.log.read_text().lower()
