"""Provide every page of the demo as a picture, to be looked at.

``python -m tests.web.gallery FOLDER``.

At a desk and on a phone, light and dark.  The demo's home is made in ``FOLDER/home``; one that
is there is shown as it stands, with tokens that are issued for it.  A page that is declared and
for whose address there is no name fails, as does one that a browser finds wrong.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal
from urllib.parse import quote, urlencode

from playwright.sync_api import Browser
from tests.contracts.running import free_port, running
from tests.web.browser.screens import Screen, chromium, screen
from tests.web.browser.sound import DESKTOP, PHONE
from tests.web.every_page.addresses import Asked, addresses

from penstock.demo.cast import ADMIN, AUDITOR, READERS
from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.context import Server
from penstock.services.operations import home
from penstock.services.people import tokens
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.settings import Settings

SIZES = {"desk": DESKTOP, "phone": PHONE}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
READER = READERS[-1]
ROLES = {"analyst": READER.name, "admin": ADMIN.name, "auditor": AUDITOR.name}
MOST = 12
"""Examples of one name in an address."""

FILES = frozenset(
    {"download", "synthetic_rows", "checkpoint", "work_file"}
    | {"query_chart", "release_chart", "stream_chart"}
)
NOBODYS = ("/", "/sign-in", "/sign-in?ended=1", "/sign-in?left=1", "/signed-in", "/nothing")
SECONDS = 300.0
FILED, PUSHED = "health_insurance_experiment", "help_desk"
EVERYBODY = urlencode([("user", person.name) for person in READERS])

ASKED: Asked = {
    "consequences": ("?tier=public", "?epsilon=0.3", "?epsilon=much"),
    "stream_totals": ("", "?from=2&tier=public&tier=internal"),
    "history": ("", "?query=absent", "?since=2100-01-01"),
    "new_dataset": ("", "?source=vector", "?source=bucket", "?uri=absent.csv"),
    "new_query": (
        *("", *(f"?kind={kind}&dataset={FILED}" for kind in ("statistic", "counts", "sparse"))),
        f"?kind=vector&dataset={PUSHED}",
    ),
    "new_stream": ("", f"?dataset={PUSHED}"),
    "new_schedule": ("", f"?dataset={FILED}"),
    "preview_clearance": (
        *("?user=pia&tier=internal", "?user=rosa&tier=public", "?user=paul&tier="),
        *("?user=absent", ""),
    ),
    "timeline": ("", "?kind=release", "?user=absent", "?since=much"),
    "audit_report": ("", "?dataset=absent&format=html"),
    "coalition": ("", f"?{EVERYBODY}", "?user=pia", "?user=ada", "?user=absent"),
    "inclusion_proof": ("?index=LEAF", "?index=much"),
    "consistency_proof": ("?from=1&to=2",),
}
"""What is asked besides, of pages that show more, or other things, when asked."""


def seen(server: Server, role: str) -> Iterator[tuple[str, str]]:
    """Yield a name and an address for each picture that somebody with a role gets."""
    count: dict[str, int] = {}
    for page, path in addresses(server, acting_as(server, ROLES[role]), ASKED, MOST):
        if page.name in FILES or not page.policy.needs_session:
            continue
        place = count[page.name] = count.get(page.name, 0) + 1
        before, mark, query = path.partition("?")
        yield f"{page.name}-{place}-{role}", quote(before) + mark + query


def shoot(window: Screen, path: str, folder: Path, name: str) -> None:
    """Picture one page at every width, in every color."""
    for size, (width, height) in SIZES.items():
        window.page.set_viewport_size({"width": width, "height": height})
        window.go(path)
        for scheme in SCHEMES:
            window.page.emulate_media(color_scheme=scheme)
            file = folder / f"{name}-{size}-{scheme}.png"
            window.page.screenshot(path=file, full_page=True)


def take(browser: Browser, server: Server, url: str, folder: Path) -> Mapping[str, str]:
    """Return all of them: the address of each name."""
    taken = {}
    for role in (None, *ROLES):
        with screen(browser, url) as window:
            window.expect(400, 404, 409, 422)
            shown: Iterator[tuple[str, str]]
            if role is None:
                shown = ((f"nobody-{place}", path) for place, path in enumerate(NOBODYS))
            else:
                issued = tokens.issue(server, OPERATOR, ROLES[role], TokenSpec())
                window.sign_in(issued.token)
                shown = seen(server, role)
            for name, path in shown:
                shoot(window, path, folder, name)
                taken[name] = path
    return taken


def main(folder: Path) -> None:
    """Make the home, serve it, take the pictures, and write down which is which."""
    folder.mkdir(parents=True, exist_ok=True)
    own = folder / "home"
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    environment = {
        **os.environ,
        "PENSTOCK_HOME": str(own),
        "PENSTOCK_PORT": str(port),
        "PENSTOCK_PUBLIC_URL": url,
        "PENSTOCK_REQUEST_RATE": "0",
    }
    command = [sys.executable, "-m", "penstock", "demo", "--home", str(own), "--port", str(port)]
    with running(command, folder, environment, port, SECONDS), chromium() as browser:
        server = home.open_server(Settings(home=own, public_url=url))
        taken = take(browser, server, url, folder)
        server.database.close()
    lines = (f"{name}\t{path}\n" for name, path in taken.items())
    (folder / "pages.txt").write_text("".join(lines), encoding="utf-8")
    sys.stdout.write(f"{len(taken)} pages in {folder}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
