"""Test previews over HTTP.

They refuse what registering refuses, in its words, and change nothing.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.bad_input.row import Row
from tests.api.bad_input.stage import Furnished, Stage, set_up
from tests.api.bad_input.tables import computed, preview, vectors
from tests.api.world import World, parsed
from tests.databases.homes import Homes

REFUSED = [
    row for row in (*vectors.ROWS, *computed.ROWS) if row.expected_code != "BUDGET_EXHAUSTED"
]
TOO_MUCH = [row for row in vectors.ROWS if row.expected_code == "BUDGET_EXHAUSTED"]


@pytest.fixture
def stage(furnished: Furnished, homes: Homes, tmp_path: Path) -> Iterator[Stage]:
    made = set_up(furnished, tmp_path, homes)
    yield made
    made.world.server.database.close()


def refusal(world: World, path: str, row: Row) -> tuple[int, dict[str, Any]]:
    response = world.call("POST", path, row.body, by=row.by, data=row.data)
    problem = parsed(response)
    return response.status_code, {name: problem.get(name) for name in ("code", "detail", "errors")}


def test_a_preview_refuses_what_registering_refuses_in_the_same_words(stage: Stage) -> None:
    assert len(REFUSED) > 200
    for row in REFUSED:
        registering = refusal(stage.world, row.path, row)
        assert registering[0] == row.status, row
        assert refusal(stage.world, preview.PREVIEW, row) == registering, row.name
    assert stage.now() == stage.before


def test_a_preview_says_why_a_budget_would_not_allow_it(stage: Stage) -> None:
    assert TOO_MUCH
    for row in TOO_MUCH:
        found = stage.world.answer("POST", preview.PREVIEW, row.body, by="root")
        assert found["refusal"] == refusal(stage.world, row.path, row)[1]["detail"]
        assert not all(tier["room"]["fits"] for tier in found["tiers"])
    assert stage.now() == stage.before


@pytest.mark.parametrize("caller", ["root", "ann", "ian"])
def test_a_good_preview_changes_nothing(stage: Stage, caller: str) -> None:
    stage.file.unlink()
    before = stage.now()
    for body in preview.GOOD:
        found = stage.world.answer("POST", preview.PREVIEW, body, by=caller)
        tiers = [tier["tier"] for tier in found["tiers"]]
        assert tiers == (["public"] if caller == "ann" else ["public", "internal"])
        assert set(found["sensitivity"]) == {"l1", "l2", "linf"}
        for tier in found["tiers"]:
            assert set(tier) == {
                *("tier", "level", "guarantee", "charge", "error", "room"),
                *("composed", "expected_maximum", "histogram", "at_delta", "ranks", "expected"),
            }
            assert tier["charge"]["share"] > 0
            assert tier["error"]["half_width"] > 0
            assert (tier["room"] is None) == found["registered"] == ("query" in body)
    assert stage.now() == before
