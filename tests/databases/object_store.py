"""Start moto's S3 server for the tests, on the loopback, and stop it after them.

It keeps objects in memory and checks no signature: what a bucket refuses is tried behind a server
of the test's own.  Buckets have names of their own, so that tests share the server and no object.
"""

import itertools
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
from tests.support import ending

if TYPE_CHECKING:
    from obstore.store import S3Store

ACCESS_KEY, SECRET_KEY, REGION = "penstock", "p/w+secret-of-the-lake", "us-east-1"
"""Any credentials do; tests look for the secret where it must not be."""

STARTING_SECONDS = 300.0
"""Seconds after which a server that does not start is given up; no outcome depends on it."""

_READY = "Running on "


@dataclass
class ObjectStore:
    """Represent a running server, and the buckets made in it."""

    url: str
    process: "subprocess.Popen[bytes]"
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def bucket(self, *, versions: bool = False, locked: bool = False) -> str:
        """Make an empty bucket, with versions or object lock if asked for; return its name."""
        name = f"bucket-{next(self.numbers)}"
        lock = {"x-amz-bucket-object-lock-enabled": "true"} if locked else {}
        httpx.put(
            f"{self.url}/{name}", headers=lock, trust_env=False, timeout=300
        ).raise_for_status()
        if versions and not locked:  # a lock implies versions
            status = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
            httpx.put(
                f"{self.url}/{name}?versioning", content=status, trust_env=False
            ).raise_for_status()
        return name

    def opened(self, bucket: str) -> "S3Store":
        """Return the store of a bucket, by which tests write and look at its objects."""
        from obstore.store import S3Store

        return S3Store(
            bucket,
            endpoint=self.url,
            access_key_id=ACCESS_KEY,
            secret_access_key=SECRET_KEY,
            region=REGION,
            client_options={"allow_http": True},
        )


@contextmanager
def launched() -> Iterator[ObjectStore]:
    """Yield a server that runs in a process of its own, on a free port."""
    with tempfile.TemporaryDirectory(prefix="penstock-s3-") as folder:
        log = Path(folder) / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"],
                stdout=output,
                stderr=subprocess.STDOUT,
                preexec_fn=ending.with_the_parent(),
            )
        try:
            yield ObjectStore(_address(log, process), process)
        finally:
            process.terminate()
            process.wait()


def _address(log: Path, process: "subprocess.Popen[bytes]") -> str:
    """Wait for the line in which the server names its address."""
    until = time.monotonic() + STARTING_SECONDS
    while True:
        for line in log.read_text().splitlines():
            if _READY in line:
                return line.split(_READY)[1].strip()
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < until, log.read_text()
        time.sleep(0.02)
