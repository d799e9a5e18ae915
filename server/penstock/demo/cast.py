"""List the demo's people: one reader in each tier, two admins, an auditor."""

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True)
class Person:
    """Represent a person with one role; readers have a tier."""

    name: str
    role: Literal["analyst", "admin", "auditor"]
    tier: str | None = None


TIERS: Final = {
    "public": "the readers of the report",
    "partner": "outside consultants",
    "internal": "the owner's analysts",
    "restricted": "the data's owners",
}

# Their initials are those of their tiers and roles.
READERS: Final = (
    Person("pia", "analyst", "public"),
    Person("paul", "analyst", "partner"),
    Person("ines", "analyst", "internal"),
    Person("rosa", "analyst", "restricted"),
)
ADMIN: Final = Person("ada", "admin")
SECOND: Final = Person("abe", "admin")
AUDITOR: Final = Person("otto", "auditor")
EVERYBODY: Final = (*READERS, ADMIN, SECOND, AUDITOR)

LATER_TIER: Final = "press"
"""The tier that is inserted between public and partner when both are in use already."""

# They act only while the demo is made; nobody needs to sign in as one of them.
NEWCOMERS: Final = (
    Person("nora", "analyst", "public"),
    Person("dirk", "analyst", "partner"),
    Person("nick", "analyst"),
)
MOVED, SHUT_OUT, WAITING = NEWCOMERS
REPORTER: Final = Person("petra", "analyst", LATER_TIER)
