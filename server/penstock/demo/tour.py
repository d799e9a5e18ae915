"""List what to try next: tokens, and commands that can be copied as they are."""

import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from penstock.demo.cast import ADMIN, AUDITOR, EVERYBODY, LATER_TIER, READERS, SECOND, Person
from penstock.demo.pages import filled, joined, table
from penstock.demo.story import HEADLINE, Story
from penstock.settings import Settings

CLIENT = "penstock-client"

FIRST_PAGES: tuple[tuple[Person, str, str], ...] = (
    (READERS[-1], "/catalogue", "all queries, and her own releases"),
    (READERS[0], "/catalogue", "the same page as the public sees it"),
    (ADMIN, "/tiers", "the tiers, with their people"),
    (SECOND, "/proposals", "a proposal that he may approve"),
    (AUDITOR, "/timeline", "who was given which release, and when"),
)
"""For each role, the page to open first and what it shows."""

_MADE = """\
While you waited, people were moved up and down and one was shut out, budgets and a level raised,
the tier {tier} put in between two others, queries released, one retired, keys and tokens
replaced; proposals were made by one admin and decided by the other, which the setting
PENSTOCK_TWO_PERSON_RULE asks for, off by default. It all went through the services at the times
that the log says; nothing is backdated. The calls to a help desk are made up by a formula."""


def what_to_try(story: Story, home: Path, settings: Settings, *, served: bool) -> str:
    """Return tokens for everybody, and what to type with them."""
    home = home.absolute()  # another terminal may be in another folder
    tokens = [
        (person.name, person.tier or person.role, story.tokens[person.name]) for person in EVERYBODY
    ]
    commands = [
        *_programs(served=served),
        *([] if served else _serve(home, settings.port)),
        *_reader(story, settings.public_url),
        *_auditor(story),
        *_operator(home),
    ]
    return joined(
        [
            [
                "TOKENS (what each signs in with; shown this once)",
                *table(("name", "tier or role", "token"), tokens),
            ],
            ["IN A BROWSER", *_browser(settings.public_url)],
            [f"TO TRY{', in another terminal' if served else ''}", *_indented(commands)],
        ]
    )


def _browser(url: str) -> Iterator[str]:
    """Return the page where each role begins."""
    yield from table(
        ("sign in as", "at", "to see"),
        [(person.name, f"{url}/sign-in?next={page}", what) for person, page, what in FIRST_PAGES],
    )
    yield ""
    yield filled(_MADE, tier=LATER_TIER)


def _programs(*, served: bool) -> list[str]:
    """Return how to find the programs if they are not on the PATH, or on this terminal's alone."""
    beside = Path(sys.executable).parent
    activated = sys.prefix != sys.base_prefix
    missing = shutil.which(CLIENT) is None or (served and activated)
    if missing and (beside / CLIENT).exists():
        return [f'export PATH={shlex.quote(str(beside))}:"$PATH"', ""]
    return []


def _serve(home: Path, port: int) -> list[str]:
    chosen = "" if port == Settings().port else f" --port {port}"
    return [f"PENSTOCK_HOME={shlex.quote(str(home))} penstock serve{chosen} &    # start it", ""]


def _reader(story: Story, url: str) -> list[str]:
    best = READERS[-1]
    return [
        f"# {best.name}: her number again (never drawn again), and the one that all may see",
        f"export PENSTOCK_URL={url}",
        f"export PENSTOCK_TOKEN={story.tokens[best.name]}",
        f"{CLIENT} queries",
        f"{CLIENT} preview {HEADLINE}    # what it costs each tier, up to hers",
        f"{CLIENT} release {HEADLINE}",
        f"{CLIENT} release {HEADLINE} --tier {READERS[0].tier}",
        "curl -s -X POST -H 'Content-Type: application/json' -d '{}' \\",
        '  -H "Authorization: Bearer $PENSTOCK_TOKEN" \\',
        f'  "$PENSTOCK_URL/api/v1/queries/{HEADLINE}/releases"; echo',
        "",
    ]


def _auditor(story: Story) -> list[str]:
    names = ",".join(reader.name for reader in READERS)
    return [
        f"# {AUDITOR.name}, the auditor: who was given which release, and the joint privacy loss",
        f"export PENSTOCK_TOKEN={story.tokens[AUDITOR.name]}",
        f"{CLIENT} history",
        f"{CLIENT} exposure --users {names} --dataset {story.seen[0].release.dataset}",
        "",
    ]


def _operator(home: Path) -> list[str]:
    lower, higher = READERS[0], READERS[1]
    return [
        (
            f"# the operator of this machine, who needs no token: promote {lower.name}, who is then"
            f" given {higher.name}'s number"
        ),
        f"export PENSTOCK_HOME={shlex.quote(str(home))}",
        f"penstock user set-clearance {lower.name} {higher.tier}",
        f"penstock release {HEADLINE} --as {lower.name}",
        "penstock audit events",
    ]


def _indented(lines: list[str]) -> Iterator[str]:
    return (f"  {line}".rstrip() for line in lines)
