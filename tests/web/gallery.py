"""Every page of the demo as a picture, to be looked at: ``python -m tests.web.gallery FOLDER``.

At a desk and on a phone, light and dark.  The demo's home is made in ``FOLDER/home``; one that
is there is shown as it stands, with tokens that are issued for it.  A page that is declared and
has no example here fails, as does one that a browser finds wrong.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from playwright.sync_api import Browser
from tests.contracts.running import free_port, running
from tests.web.screens import DESKTOP, PHONE, Screen, chromium, screen

from penstock.demo.cast import ADMIN, AUDITOR, READERS
from penstock.services import datasets, history, home, proposals, queries, streams, tokens
from penstock.services.paging import LARGEST_LIMIT, Window
from penstock.services.principals import OPERATOR, acting_as
from penstock.services.server import Server
from penstock.services.specs import TokenSpec
from penstock.settings import Settings
from penstock.web import PAGES
from penstock.web.pages import Page

SIZES = {"desk": DESKTOP, "phone": PHONE}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
READER = READERS[-1]
ROLES = {"analyst": READER.name, "admin": ADMIN.name, "auditor": AUDITOR.name}
MOST = 12
"""Examples of one page."""

FILES = frozenset({"download", "export_log", "checkpoint"})
LED_ON = frozenset({"signed_in"})
SECONDS = 300.0


def asked(everybody: str) -> Mapping[str, tuple[str, ...]]:
    """What is asked besides, of pages that show more, or other things, when asked."""
    return {
        "sign_in_form": ("", "?ended=1", "?left=1"),
        "consequences": ("?tier=public", "?epsilon=0.3", "?epsilon=much"),
        "stream_totals": ("", "?from=2&tier=public"),
        "history": ("", "?query=absent", "?since=2100-01-01"),
        "new_dataset": ("", "?source=vector", "?uri=absent.csv"),
        "foresee_clearance": (
            *("?user=pia&tier=internal", "?user=rosa&tier=public", "?user=paul&tier="),
            *("?user=absent", ""),
        ),
        "timeline": ("", "?kind=release", "?user=absent", "?since=much"),
        "coalition": ("", f"?{everybody}", "?user=pia", "?user=ada", "?user=absent"),
        "inclusion_proof": ("?index=0", "?index=much"),
        "consistency_proof": ("?from=1&to=2",),
    }


def named(server: Server) -> dict[str, list[str]]:
    """Examples of what stands in addresses, by the name that it has there."""
    reader = acting_as(server, READER.name)
    window = Window(LARGEST_LIMIT)
    held = history.listing(server, reader, window).items
    latest = {item.query: item.id for item in held}
    return {
        "dataset": [one.name for one in datasets.listing(server, OPERATOR, window).items],
        "query": [one.name for one in queries.listing(server, OPERATOR, window).items],
        "stream": [one.name for one in streams.listing(server, OPERATOR, window).items],
        "release": [*latest.values()],
        "proposal": [one.id for one in proposals.listing(server, OPERATOR, window).items],
        "tier": [person.tier or "" for person in READERS[-1:]],
        "user": [READER.name, ADMIN.name],
    }


def addresses(page: Page, names: Mapping[str, list[str]], everybody: str) -> Iterator[str]:
    """The addresses at which a page is looked at."""
    parts = re.findall(r"<(\w+)>", page.path)
    for found in list(product(*(names[part] for part in parts)))[:MOST]:
        path = page.path
        for part, name in zip(parts, found, strict=True):
            path = path.replace(f"<{part}>", quote(name, safe=""))
        for query in asked(everybody).get(page.name, ("",)):
            yield path + query


def who(page: Page) -> tuple[str, ...]:
    """The roles that see a page; nobody's where it needs none."""
    if not page.policy.needs_session:
        return ("nobody",)
    return page.policy.roles or tuple(ROLES)


def shoot(window: Screen, path: str, folder: Path, name: str) -> None:
    """One page at every width, in every color."""
    for size, (width, height) in SIZES.items():
        window.page.set_viewport_size({"width": width, "height": height})
        window.go(path)
        for scheme in SCHEMES:
            window.page.emulate_media(color_scheme=scheme)
            file = folder / f"{name}-{size}-{scheme}.png"
            window.page.screenshot(path=file, full_page=True)


def take(browser: Browser, server: Server, url: str, folder: Path) -> int:
    """All of them; how many pages there were."""
    names = named(server)
    everybody = "&".join(f"user={person.name}" for person in READERS)
    count = 0
    with ExitStack() as opened:
        windows: dict[str, Screen] = {}
        for role in ("nobody", *ROLES):
            windows[role] = opened.enter_context(screen(browser, url))
            windows[role].expect(400, 404, 409, 422)
            if role != "nobody":
                windows[role].sign_in(
                    tokens.issue(server, OPERATOR, ROLES[role], TokenSpec()).token
                )
        for page in PAGES:
            if page.verb != "GET" or page.name in FILES | LED_ON:
                continue
            for role, (place, path) in product(
                who(page), enumerate(addresses(page, names, everybody))
            ):
                shoot(windows[role], path, folder, f"{page.name}-{place}-{role}")
                count += 1
    return count


def main(folder: Path) -> None:
    """Make the home, serve it, take the pictures."""
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
        sys.stdout.write(f"{take(browser, server, url, folder)} pages in {folder}\n")
        server.database.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
