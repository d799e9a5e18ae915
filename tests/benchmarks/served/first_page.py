"""Measure the seconds to a first page, by each way of deployment that can be started here.

The wheel is built from the tracked files and installed by pip at the locked versions; each way
makes a home of its own first.  The page is the one for people, by TLS where the way has TLS.
Processor seconds are those of all processes that were started, until they have ended.
"""

import os
import re
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
from tests.api.served.proxies import KINDS, NAME, Place, make_certificate
from tests.benchmarks.figures import Figure
from tests.contracts.deployments.deployment_files import DEPLOY, INSTALLED
from tests.contracts.deployments.namespace import IMAGE, namespace
from tests.contracts.distributions import Installation, build, install
from tests.contracts.running import free_port
from tests.support import ending

PATIENCE = 600.0


@dataclass(frozen=True)
class Way:
    """Hold what has to be started, each with its environment, and where its page is."""

    programs: Sequence[tuple[Sequence[str], Mapping[str, str]]]
    url: str


def measure() -> list[Figure]:
    """Install once, then start each way."""
    with TemporaryDirectory(prefix="penstock-benchmark-") as name:
        folder = Path(name)
        wheel, place = build(folder).server, folder / "installed"
        figures = timed("pip install of the wheel", lambda: install(place, [wheel]))
        installed = Installation(place)
        # What pip does by default, and the tests' installations leave out.
        figures += timed(
            "its bytecode",
            lambda: installed.run("python", "-m", "compileall", "-qq", str(place), folder=folder),
        )
        ways = {
            "penstock serve": by_pip,
            "the command of penstock.service": by_systemd,
            "the container's command, read-only": by_container,
            "penstock serve, and Caddy": lambda *given: proxied("caddy/Caddyfile", *given),
            "penstock serve, and nginx": lambda *given: proxied("nginx/penstock.conf", *given),
        }
        for way, prepare in ways.items():
            own = folder / re.sub(r"\W", "-", way)
            own.mkdir()
            ready = prepare(installed, own)
            figures += timed(f"first page: {way}", partial(reach, ready, own))
    return figures


def timed(name: str, do: Callable[[], object]) -> list[Figure]:
    """Return the seconds that something takes: by its own clock, or by ours, and of processors."""
    clock, processor = time.perf_counter(), used()
    answer = do()
    seconds = answer if isinstance(answer, float) else time.perf_counter() - clock
    return [
        Figure(name, seconds, "s"),
        Figure("  of processors", used() - processor, "s"),
    ]


def used() -> float:
    """Return the processor seconds of all processes that were started and have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def reach(way: Way, folder: Path) -> float:
    """Start a way, and return the seconds until its page is there; everything is ended then."""
    begun = time.perf_counter()
    with ExitStack() as stack:
        log = stack.enter_context((folder / "log").open("ab"))
        for command, environment in way.programs:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdout=log,
                stderr=log,
                preexec_fn=ending.with_the_parent(signal.SIGTERM),
            )
            stack.callback(process.wait)
            stack.callback(process.terminate)
        while time.perf_counter() < begun + PATIENCE:
            try:
                page = httpx.get(way.url, verify=False, timeout=PATIENCE)  # noqa: S501
            except httpx.TransportError:
                time.sleep(0.02)
                continue
            if page.status_code == 200 and "<h1" in page.text:
                return time.perf_counter() - begun
    raise AssertionError((folder / "log").read_text())


def by_pip(installed: Installation, folder: Path, url: str = "") -> Way:
    """Prepare ``penstock serve`` in a folder; ``url`` is the public address if that is another."""
    port = free_port()
    installed.run("penstock", "init", folder=folder)
    local = f"http://127.0.0.1:{port}"
    public = {"PENSTOCK_PORT": str(port), "PENSTOCK_PUBLIC_URL": url or local}
    command = [str(installed.programs / "penstock"), "serve"]
    return Way([(command, installed.environment(folder, **public))], f"{local}/")


def by_systemd(installed: Installation, folder: Path) -> Way:
    """Prepare the unit's command with the variables of its example alone."""
    unit = (DEPLOY / "systemd/penstock.service").read_text()
    example = (DEPLOY / "systemd/environment.example").read_text()
    environment = dict(line.split("=", 1) for line in example.splitlines() if line[:1] == "P")
    port = free_port()
    environment |= {"PENSTOCK_HOME": str(folder / "home"), "PENSTOCK_PORT": str(port)}
    (line,) = re.findall(r"(?m)^ExecStart=(.*)$", unit)
    command = line.replace(INSTALLED, str(installed.programs / "penstock")).split()
    subprocess.run([command[0], "init"], env=environment, check=True, capture_output=True)
    return Way([(command, environment)], f"http://127.0.0.1:{port}/")


def by_container(installed: Installation, folder: Path) -> Way:
    """Prepare the Dockerfile's command in a mount namespace."""
    inside, port = namespace(installed, folder), free_port()
    made = inside.done(port, IMAGE.command[0], "init")
    assert made.returncode == 0, made.stderr
    command = inside.command(port, *IMAGE.command)
    return Way([(command, inside.environment)], f"http://127.0.0.1:{port}/")


def proxied(site: str, installed: Installation, folder: Path) -> Way:
    """Prepare a server and a proxy, which start at once."""
    port = free_port()
    url = f"https://{NAME}:{port}"
    server = by_pip(installed, folder, url)
    upstream = int(server.url.rstrip("/").rpartition(":")[2])
    configure, _ = KINDS[site]
    place = Place(DEPLOY / site, folder, port, *make_certificate(folder), upstream)
    _, command = configure(place)
    own = {"PATH": os.environ["PATH"], "HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    return Way([*server.programs, (command, own)], f"{url}/")
