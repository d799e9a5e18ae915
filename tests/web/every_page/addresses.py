"""Provide the addresses of all pages that somebody may see, with real names in them."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from sqlmodel import col, select

from penstock.persistence.tables import Checkpoint
from penstock.services.access.principals import Principal
from penstock.services.approvals import proposals
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.jobs import jobs
from penstock.services.pagination import LARGEST_LIMIT, Window
from penstock.services.people import tiers, users
from penstock.services.queries import queries
from penstock.services.releases import history
from penstock.services.requests import views as requests
from penstock.services.schedules import schedules
from penstock.services.streams import streams
from penstock.web import PAGES
from penstock.web.http.routes import PageRoute

ALL = Window(LARGEST_LIMIT)
PLACE = re.compile(r"<(\w+)>")

FORMS = {"image": ["svg", "png"], "form": ["csv", "parquet", "arrow"]}
"""By the place in an address the formats of files."""

AT_A_PROVIDER = {"sign_in_at_provider", "return_from_provider"}
"""The steps of a sign-in, which lead to a provider and back (``tests/web/sign_on``)."""

Asked = Mapping[str, Sequence[str]]
"""By a page's name what it is asked besides, each from its question mark on."""


def questions(server: Server, dataset: str, query: str, people: Sequence[str], tier: str) -> Asked:
    """Return what pages are asked, without which they would hold little but their forms.

    The last of ``people`` is the most trusted of them, and ``tier`` the highest.
    """
    with server.database.read() as session:
        sizes = session.exec(select(Checkpoint.size).order_by(col(Checkpoint.size))).all()
    together = "".join(f"&user={name}" for name in people)
    return {
        "history": ("", f"?query={query}"),
        "timeline": ("", "?kind=proposal", "?tier=press", "?actor=ada&order=oldest"),
        "audit_report": ("", "?from=soon&format=html"),
        "coalition": (f"?dataset={dataset}{together}", f"?user={people[0]}"),
        "inclusion_proof": ("?index=LEAF",),
        "consistency_proof": (f"?from={sizes[0]}&to={sizes[-1]}" if sizes else "",),
        "preview_clearance": (f"?user={people[0]}&tier={tier}", f"?user={people[-1]}&tier="),
        "ask_sql": ("", f"?dataset={dataset}"),
        "new_query": ("", f"?dataset={dataset}"),
        "new_schedule": ("", f"?dataset={dataset}"),
    }


def addresses(
    server: Server, caller: Principal, asked: Asked, most: int = LARGEST_LIMIT
) -> Iterator[tuple[PageRoute, str]]:
    """Yield every page that the caller's role may see, of at most so many names for each place."""
    for page in PAGES:
        roles = page.policy.roles
        if (
            page.verb != "GET"
            or page.name in AT_A_PROVIDER
            or (roles and caller.roles.isdisjoint(roles))
        ):
            continue
        places = PLACE.findall(page.path)
        for names in itertools.product(*(called(server, caller, one)[:most] for one in places)):
            path = page.path
            for place, name in zip(places, names, strict=True):
                path = path.replace(f"<{place}>", name)
            for more in asked.get(page.name, ("",)):
                if "LEAF" not in more:
                    yield page, path + more
                elif (leaf := leaf_of(server, caller)) is not None:
                    yield page, path + more.replace("LEAF", str(leaf))


def leaf_of(server: Server, caller: Principal) -> int | None:
    """Return a leaf of the log that the caller may have proven.

    There is none where they were handed nothing.
    """
    if "auditor" in caller.roles:
        return 0
    if "analyst" not in caller.roles:
        return None
    held = history.listing(server, caller, ALL).items
    return held[0].receipt.index if held else None


def called(server: Server, caller: Principal, place: str) -> list[str]:
    """Return all that the caller sees for one place in an address."""
    if place in FORMS:
        return FORMS[place]
    match place:
        case "query":
            return [one.name for one in queries.listing(server, caller, ALL).items]
        case "dataset":
            return [one.name for one in datasets.listing(server, caller, ALL).items]
        case "stream":
            return [one.name for one in streams.listing(server, caller, ALL).items]
        case "schedule":
            return [one.name for one in schedules.listing(server, caller, ALL).items]
        case "tier":
            return [one.name for one in tiers.listing(server)]
        case "user":
            return [one.name for one in users.listing(server, caller, ALL).items]
        case "request_id":
            listed = requests.listing(server, caller, ALL).items
            return [one.id for one in listed if one.id is not None]
        case "proposal":
            return [one.id for one in proposals.listing(server, caller, ALL).items]
        case "release":
            return [one.id for one in history.listing(server, caller, ALL).items]
        case "piece":
            return [one.id for one in jobs.listing(server, caller)]
    raise AssertionError(f"say here what stands for <{place}> in addresses of pages")
