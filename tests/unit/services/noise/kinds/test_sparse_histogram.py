"""Test counts over too many keys to list, released by tier.

Registered, drawn, kept, refused.
"""

import hashlib
import math
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text
from sqlmodel import select
from tests.databases.homes import PATIENCE
from tests.unit.worlds import CopyWorld, Keep, World, fill

from penstock.errors import Conflict, IntegrityViolation, InvalidInput, LevelsUsedUp
from penstock.persistence.tables import Dataset, HistogramState, Query, Release
from penstock.services.access.principals import OPERATOR, Principal
from penstock.services.datasets import datasets
from penstock.services.exposure import exposure
from penstock.services.noise import sealed_histogram
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.kinds.sparse_histogram import HistogramKind
from penstock.services.previews import query_preview
from penstock.services.queries import queries, registration
from penstock.services.releases import history, releases
from penstock.services.schemas.queries import (
    DatasetRequest,
    HistogramRequest,
    LevelsChange,
    ReleaseRequest,
)
from penstock.services.schemas.views import QueryView, ReleaseView

# Key 7 is everybody's, 12345 is of a tenth, and 2^64 - 1 of one person.
ROWS = "person,book\n" + "".join(
    f"p{number},7\n"
    + (f"p{number},12345\n" if number % 10 == 0 else "")
    + (f"p{number},{2**64 - 1}\n" if number == 3 else "")
    for number in range(2000)
)

LOANS: dict[str, Any] = {
    "name": "loans",
    "source": {"engine": "duckdb"},
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "max_units": 1_000_000,
    "columns": {"person": {"type": "string"}, "book": {"type": "integer"}},
    "budgets": {
        "public": {"epsilon": 1.0},
        "partner": {"epsilon": 2.0},
        "internal": {"epsilon": 4},
    },
}

BOOKS: dict[str, Any] = {
    "name": "books",
    "dataset": "loans",
    "structure": "sparse_histogram",
    "domain": {"type": "uint64"},
    "false_keys": {"public": 0.5, "internal": 2},
    "group_by": [{"column": "book"}],
    "aggregate": {"type": "count_units"},
    "contribution": {"max_groups": 2},
    "mechanism": "gaussian",
    "levels": {"public": {"epsilon": 0.25}, "internal": {"epsilon": 1.5}},
}


def register(world: World, **changes: object) -> QueryView:
    request = HistogramRequest.model_validate({**BOOKS, **changes})
    return registration.register(world.server, OPERATOR, request)


def lend(world: World, file: Path) -> None:
    """Add what ``fill`` adds, and the dataset of loans."""
    fill(world)
    spec = {**LOANS, "source": {"engine": "duckdb", "uri": str(file)}}
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(spec))


@pytest.fixture
def loans(copy_world: CopyWorld, keep: Keep) -> World:
    return copy_world("loans", lambda world: lend(world, keep("loans.csv", ROWS)))


@pytest.fixture
def books(copy_world: CopyWorld, keep: Keep) -> World:
    def furnish(world: World) -> None:
        lend(world, keep("loans.csv", ROWS))
        register(world)

    return copy_world("books", furnish)


def pairs(found: ReleaseView) -> dict[int, float]:
    return dict(zip(np.asarray(found.keys).tolist(), found.values.tolist(), strict=True))


def test_keys_with_large_counts_are_released_with_them(books: World) -> None:
    for name in ("pia", "paul", "ines"):
        found = books.ask(name, "books").view
        assert abs(pairs(found)[7] - 2000) < 6 * found.error.standard_deviation
        assert found.histogram is not None
        assert (found.values > found.histogram.threshold).all()
        assert 2**64 - 1 not in pairs(found), "one person's key is never above a threshold"
    assert abs(pairs(found)[12345] - 200) < 6 * found.error.standard_deviation


def test_a_repeat_and_another_reader_get_the_identical_report(books: World) -> None:
    first = books.ask("ines", "books")
    taken = books.streams.taken
    again = books.ask("ines", "books")
    assert first.first
    assert not again.first
    assert pairs(first.view) == pairs(again.view)
    public = books.ask("ines", "books", tier="public").view
    assert pairs(books.ask("pia", "books").view) == pairs(public)
    assert books.streams.taken == taken + 1, "only the public level was drawn"
    values = history.values(books.server, books.person("ines"), public.id)
    assert pairs(values) == pairs(public)
    assert values.histogram == public.histogram


def test_a_crowd_that_asks_for_one_new_level_gets_one_report(books: World) -> None:
    people = [books.person(name) for name in ("ines", "paul", "pia") for _ in range(3)]
    wanted = ReleaseRequest.model_validate({"epsilon": 0.1})
    taken, gate = books.streams.taken, threading.Barrier(len(people), timeout=PATIENCE)

    def ask(person: Principal) -> dict[int, float]:
        gate.wait()
        return pairs(releases.request(books.server, person, "books", wanted).view)

    with ThreadPoolExecutor(len(people)) as pool:
        found = list(pool.map(ask, people))
    assert all(each == found[0] for each in found)
    assert books.streams.taken == taken + 1


def test_a_report_and_the_state_after_it_are_kept_together_or_not_at_all(
    books: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(sealed_histogram, "save", fail)
        with pytest.raises(KeyboardInterrupt):
            books.ask("ines", "books", epsilon=0.3)
    with books.server.database.read() as session:
        assert len(session.exec(select(Release)).all()) == 1
    assert 7 in pairs(books.ask("ines", "books", epsilon=0.3).view)


@pytest.mark.parametrize("order", [(0.2, 0.6, 0.3), (0.6, 0.2, 0.3), (0.3, 0.2, 0.6)], ids=str)
def test_levels_are_released_in_any_order_and_keep_the_noise_of_a_path(
    books: World, order: tuple[float, ...]
) -> None:
    found = {epsilon: books.ask("ines", "books", epsilon=epsilon).view for epsilon in order}
    levels = [found[epsilon].level.value for epsilon in sorted(found)]
    assert levels == sorted(levels, reverse=True)
    thresholds = [view.histogram.threshold for view in found.values() if view.histogram]
    assert len(set(thresholds)) == 3
    for view in found.values():
        assert abs(pairs(view)[7] - 2000) < 6 * view.error.standard_deviation


def test_false_keys_are_as_many_as_each_tier_expects(loans: World) -> None:
    register(loans, false_keys={"public": 3, "internal": 40}, max_levels=2)
    public, internal = (loans.ask(name, "books").view for name in ("pia", "ines"))
    assert internal.histogram is not None
    assert public.histogram is not None
    assert 15 < len(internal.values) < 75
    assert len(public.values) < 18
    assert internal.histogram.false_keys == 40
    assert public.histogram.false_keys == 3
    assert internal.histogram.size == 2**64


def test_what_a_tier_is_told_of_chances_is_that_of_its_noise(books: World) -> None:
    view = books.ask("pia", "books").view
    assert view.histogram is not None
    chances = [each.probability for each in view.histogram.appears]
    counts = [each.count for each in view.histogram.appears]
    assert counts[:4] == [1, 2, 5, 10]
    assert chances == sorted(chances)
    assert chances[0] < 1e-15
    assert chances[-1] > 0.9999
    assert counts[-2] < 1.5 * view.histogram.threshold < 10 * counts[-1]


def test_every_tier_is_charged_noise_and_false_keys(loans: World) -> None:
    few, many = (
        query_preview.preview(
            loans.server,
            OPERATOR,
            HistogramRequest.model_validate({**BOOKS, "false_keys": number}),
        )
        for number in (0.001, 1)
    )
    assert [tier.tier for tier in few.tiers] == ["public", "partner", "internal"]
    assert few.sensitivity.l2 == pytest.approx(2**0.5)
    assert few.dimension == 2
    for tier, other in zip(few.tiers, many.tiers, strict=True):
        assert tier.charge.loss == other.charge.loss
        inflation = 1 + math.exp(LOANS["budgets"][tier.tier]["epsilon"])
        more = other.charge.failure - tier.charge.failure
        assert more == pytest.approx(inflation * 16 * 2**-37, rel=0.02)
        assert tier.histogram is not None
        assert other.histogram is not None
        assert tier.histogram.threshold > other.histogram.threshold
    registered = register(loans)
    assert registered.tiers[0].histogram is not None
    assert registered.tiers[0].histogram.false_keys == 0.5
    with loans.server.database.read() as session:
        assert not session.exec(select(Release)).one().noisy_rung


def test_more_false_keys_than_the_failures_of_a_budget_allow_are_refused(loans: World) -> None:
    with pytest.raises(Conflict, match=r"failure .* What would fit: false_keys of at most"):
        register(loans, false_keys=100_000)
    register(loans, false_keys=1, max_levels=2)


def test_levels_are_lowered_and_raised_up_to_the_ceiling_alone(books: World) -> None:
    books.ask("ines", "books")
    moved = LevelsChange.model_validate({"levels": {"partner": {"epsilon": 0.75}}})
    view = queries.change(books.server, OPERATOR, "books", moved)
    assert view.tiers[1].guarantee.epsilon == pytest.approx(0.75, rel=0.03)
    found = books.ask("paul", "books").view
    assert found.guarantee.epsilon == pytest.approx(0.75, rel=0.03)
    assert found.histogram is not None
    assert 0.5 < found.histogram.false_keys < 2
    above = LevelsChange.model_validate({"levels": {"internal": {"epsilon": 2}}})
    with pytest.raises(InvalidInput, match="would need the data to be read again"):
        queries.change(books.server, OPERATOR, "books", above)


def test_no_more_levels_are_drawn_than_were_charged(loans: World) -> None:
    register(loans, max_levels=3)
    loans.ask("ines", "books", epsilon=1)
    loans.ask("ines", "books", epsilon=1)
    with pytest.raises(LevelsUsedUp):
        loans.ask("ines", "books", epsilon=0.5)
    loans.ask("pia", "books")


def test_the_exposure_of_all_readers_is_that_of_the_best_one(books: World) -> None:
    for name in ("pia", "paul", "ines"):
        books.ask(name, "books")
    alone = exposure.of(books.server, books.person("otto"), ["ines"], "loans")
    together = exposure.of(books.server, books.person("otto"), ["ines", "pia", "paul"], "loans")
    assert together.released.epsilon == alone.released.epsilon
    assert together.independent.epsilon > alone.independent.epsilon


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"mechanism": "poisson"}, "/mechanism", "has gaussian or laplace noise.*for poisson"),
    ({"false_keys": {"nobody": 1}}, "/false_keys/nobody", "There is no tier 'nobody'"),
    ({"false_keys": 3, "domain": {"type": "uint64", "size": 4}}, "/false_keys", "a quarter"),
    ({"false_keys": 1e-60}, "/false_keys", "from 1.3e-41 up"),
    (
        {"false_keys": {"public": 1, "partner": 2}},
        "/false_keys/partner",
        "have the same level.*not 1 and 2",
    ),
    (
        {"levels": {"internal": {"epsilon": 1}}},
        "/false_keys/public",
        "does not see this query",
    ),
    ({"max_levels": 1}, "/max_levels", "2 levels, more than max_levels, 1"),
]


@pytest.mark.parametrize(("changes", "pointer", "words"), WRONG, ids=[one[1] for one in WRONG])
def test_what_cannot_be_meant_is_refused_and_nothing_drawn(
    loans: World, changes: dict[str, Any], pointer: str, words: str
) -> None:
    with pytest.raises(InvalidInput, match=words) as refused:
        register(loans, **changes)
    assert refused.value.errors[0][0] == pointer
    assert loans.streams.taken == 0
    with loans.server.database.read() as session:
        assert not session.exec(select(Query)).all()


def test_a_dataset_with_delta_0_has_no_gaussian_histogram(world: World, tmp_path: Path) -> None:
    file = tmp_path / "loans.csv"
    file.write_text(ROWS, encoding="utf-8")
    spec = {**LOANS, "delta": 0, "source": {"engine": "duckdb", "uri": str(file)}}
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(spec))
    with pytest.raises(InvalidInput, match="a delta above 0") as refused:
        register(world)
    assert refused.value.errors[0][0] == "/mechanism"


def test_one_statistic_is_registered_once(books: World) -> None:
    with pytest.raises(Conflict, match="'books'"):
        register(books, name="again", false_keys=1)
    register(books, name="fewer", domain={"type": "uint64", "size": 2**40})


def test_an_interrupted_registration_is_finished_by_the_same_spec(
    loans: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(sealed_histogram, "begin", fail)
        with pytest.raises(KeyboardInterrupt):
            register(loans)
    with pytest.raises(Conflict, match="pending"):
        loans.ask("ines", "books")
    register(loans)
    assert 7 in pairs(loans.ask("ines", "books").view)


def test_ciphertexts_have_lengths_of_powers_of_two(books: World) -> None:
    for name in ("pia", "ines"):
        books.ask(name, "books")
    with books.server.database.read() as session:
        states = session.exec(select(HistogramState.ciphertext)).all()
        reports = session.exec(select(Release.ciphertext)).all()
    sizes = {len(each) for each in (*states, *reports)}
    assert len(sizes) > 1
    # What an envelope adds is the same for all.
    assert any(
        all((size - added).bit_count() == 1 for size in sizes) for added in range(min(sizes))
    )


ALTERED = [
    "UPDATE histogram_state SET seq = seq + 1",
    "UPDATE histogram_state SET ciphertext = substr(ciphertext, 1, 100)",
    "DELETE FROM histogram_state",
    "UPDATE query SET histogram = replace(histogram, '0.5', '0.6')",
    "UPDATE query SET histogram = NULL",
]


@pytest.mark.parametrize("change", ALTERED)
def test_rows_that_were_altered_are_refused_and_draw_nothing(books: World, change: str) -> None:
    books.ask("ines", "books")
    taken = books.streams.taken
    with books.server.database.write() as session:
        session.connection().execute(text(change))
    with pytest.raises(IntegrityViolation):
        books.ask("ines", "books", epsilon=0.3)
    assert books.streams.taken == taken


def test_a_state_from_before_the_newest_release_is_found_out(books: World) -> None:
    with books.server.database.read() as session:
        old = session.exec(select(HistogramState)).one().ciphertext
    books.ask("ines", "books", epsilon=0.3)
    with books.server.database.write() as session:
        row = session.exec(select(HistogramState)).one()
        row.ciphertext = old
        session.add(row)
    with pytest.raises(IntegrityViolation):
        books.ask("ines", "books", epsilon=0.4)


def test_a_state_of_levels_that_were_not_released_is_found_out(books: World) -> None:
    """It was sealed for this very place, as by a server that was stopped between its rows."""
    with books.server.database.write() as session:
        query = session.exec(select(Query).where(Query.name == "books")).one()
        dataset = session.get_one(Dataset, query.dataset_id)
        kind = kind_of(query)
        assert isinstance(kind, HistogramKind)
        histogram = sealed_histogram.load(session, books.server, dataset, query, kind.public)
        histogram.at(query.ceiling + 1)
        sealed_histogram.save(session, books.server, dataset, query, histogram)
    taken = books.streams.taken
    with pytest.raises(IntegrityViolation, match="of other levels than were released"):
        books.ask("ines", "books", epsilon=0.3)
    assert books.streams.taken == taken


def test_keys_of_texts_are_released_as_hashes(world: World, tmp_path: Path) -> None:
    file = tmp_path / "pages.csv"
    file.write_text(
        "person,page\n" + "".join(f"p{number},https://a/\n" for number in range(500)),
        encoding="utf-8",
    )
    columns = {"person": {"type": "string"}, "page": {"type": "string"}}
    spec = {**LOANS, "columns": columns, "source": {"engine": "duckdb", "uri": str(file)}}
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(spec))
    register(world, domain={"type": "sha256_64"}, group_by=[{"column": "page"}], false_keys=0.01)
    found = world.ask("ines", "books").view
    assert found.keys == [hashlib.sha256(b"https://a/").hexdigest()[:16]]
