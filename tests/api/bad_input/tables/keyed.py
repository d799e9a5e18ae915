"""Provide invalid requests under an Idempotency-Key."""

from datetime import timedelta
from typing import Any

from tests.api.bad_input.row import Row
from tests.api.bad_input.tables.people import TIER, TIERS, USER, USERS
from tests.api.world import World

from penstock.services.jobs.idempotency import MOST_MISMATCHES

HEADER = "Idempotency-Key"
EXPIRED, KEPT = "expired", "kept"
STREET: dict[str, Any] = {"name": "street", "rank": 1}
"""A tier below all others, made under a key that has expired since."""

KIM: dict[str, Any] = {**USER, "name": "kim"}
"""A user made under a key that is still remembered."""

AT = f"/{HEADER}"


def furnish(world: World) -> None:
    """Create ``EXPIRED`` and ``KEPT``, a day apart."""
    for path, body, key in ((TIERS, STREET, EXPIRED), (USERS, KIM, KEPT)):
        response = world.call("POST", path, body, by="root", headers={HEADER: key})
        assert response.status_code == 201, response.text
        if key == EXPIRED:
            world.clock.now += timedelta(days=1, seconds=1)
    for _ in range(MOST_MISMATCHES):  # as often as they are counted, so that rows change nothing
        response = world.call(
            "POST", USERS, {**KIM, "clearance": "internal"}, by="root", headers={HEADER: KEPT}
        )
        assert response.status_code == 422, response.text


ROWS = [
    Row("a key that has expired", "POST", TIERS, "choose another", 409, body=STREET,
        headers={HEADER: EXPIRED}, code="NAME_TAKEN"),
    Row("a key that came with another body", "POST", USERS, "take a new key", pointer=AT,
        body={**KIM, "clearance": "internal"}, headers={HEADER: KEPT}),
    Row("a key that came to another address", "POST", TIERS, "take a new key", pointer=AT,
        body=TIER, headers={HEADER: KEPT}),
    *(
        Row(f"a key of {name}", "POST", TIERS, "1 to 255 printable ASCII", pointer=AT, body=TIER,
            headers={HEADER: key})
        for name, key in {"nothing": "", "256 letters": "x" * 256, "other letters": "\u00e9",
                          "a tab": "a\tb"}.items()
    ),
]  # fmt: skip
