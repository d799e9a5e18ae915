"""Measure the processor seconds of the longest computations that a caller may request."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import numpy as np
from tests.benchmarks.figures import Figure
from tests.benchmarks.pairing import in_turns, median, ratio

from penstock.accounting import NOTHING, PlacedRelease, account_of, composed_epsilon
from penstock.computing import Bounds, LocalTurns, Pool
from penstock.connectors.planning.prepare import PreparedQuery
from penstock.mechanisms.loss_sums import raised_to
from penstock.persistence.tables import Tier
from penstock.privacy import Sensitivity
from penstock.services.computations.computations import quote
from penstock.services.computations.job_kinds import forget
from penstock.services.computations.pooled import MODULE, Pooled
from penstock.services.computations.stream_quotes import StreamTerms, quote_stream
from penstock.services.ledger.accounts import TierAccount
from penstock.services.schemas.queries import VectorPreviewRequest
from penstock.services.schemas.streams import StreamRequest

DELTA = 1e-6
EPSILONS = {"public": 0.1, "partner": 0.25, "internal": 0.5}
LEVELS = {name: {"epsilon": epsilon} for name, epsilon in EPSILONS.items()}
FINE = Fraction(1, 2**12)
BEGUN = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Setting:
    """Hold how many values the widest vector has, how many releases compose, and how often."""

    values: int = 1_000_000
    releases: int = 300
    elements: int = 2**40
    rounds: int = 3


def accounts() -> list[tuple[Tier, TierAccount | None]]:
    """Return three tiers with budgets of which nothing is spent."""
    found: list[tuple[Tier, TierAccount | None]] = []
    for rank, name in enumerate(EPSILONS, 1):
        tier = Tier(id=rank, name=name, folded=name, rank=rank, created_at=BEGUN)
        found.append((tier, TierAccount(tier, account_of(4.0, DELTA), NOTHING, 0)))
    return found


def asked(mechanism: str, values: int, **terms: Any) -> tuple[Any, ...]:
    """Return what ``quote`` is told of a vector whose values all move by 1."""
    request = VectorPreviewRequest.model_validate(
        {
            "name": "planned",
            "dataset": "sites",
            "keys": ["0"],
            "sensitivity": {"l1": values, "l2": values**0.5 + 1, "linf": 1},
            "mechanism": mechanism,
            **({} if "share" in terms else {"levels": LEVELS}),
            **terms,
        }
    )
    moved = Sensitivity(Fraction(values), Fraction(values), Fraction(1))
    prepared = PreparedQuery(None, values, Fraction(1), Fraction(2**31), moved)
    return request, prepared, accounts(), DELTA, None


def stream(elements: int, mechanism: str) -> tuple[Any, ...]:
    """Return what ``quote_stream`` is told of a stream of so many elements."""
    request = StreamRequest.model_validate(
        {
            "name": "planned",
            "dataset": "sites",
            "mechanism": mechanism,
            "length": elements,
            "max_steps_per_unit": 1,
            "levels": LEVELS,
        }
    )
    return request, StreamTerms("sites", 1, DELTA, 1, 10_000_000), accounts(), None


def placed(count: int) -> list[PlacedRelease]:
    """Return Laplace releases at as many levels: what takes the longest to compose."""
    moved = Sensitivity(Fraction(64), Fraction(64), Fraction(1))
    return [PlacedRelease("laplace", FINE, Fraction(500 + place), moved) for place in range(count)]


def seconds(act: Callable[[], object]) -> float:
    """Return seconds of a processor, with nothing remembered from before."""
    forget()
    before = time.process_time()
    act()
    return time.process_time() - before


def longest(setting: Setting) -> list[Figure]:
    """Return one figure for each computation."""
    few = min(setting.values, 4096)
    work: dict[str, Callable[[], object]] = {
        f"preview, generalized Gaussian, {values:,} values": (
            lambda values=values: quote(  # type: ignore[misc]  # bound as it is now
                *asked("generalized_gaussian", values, p=5), asks=True
            )
        )
        for values in sorted({few, min(setting.values, 65_536), setting.values})
    }
    for name in ("poisson", "skellam"):
        wide = asked(name, few, share=0.01)
        work[f"preview, {name}, by a share"] = lambda wide=wide: quote(*wide, asks=False)  # type: ignore[misc]
    for name in ("gaussian", "laplace"):
        long = stream(setting.elements, name)
        work[f"preview of a stream, {name}"] = lambda long=long: quote_stream(*long)  # type: ignore[misc]
    releases = placed(setting.releases)
    work[f"exposure, {setting.releases} levels"] = lambda: composed_epsilon(releases, DELTA)
    return [Figure(name, seconds(act), "s") for name, act in work.items()]


def measure(setting: Setting = Setting()) -> Sequence[Figure]:
    """Return what is longest, and what is gained by powers in place and by what is kept."""
    spectrum = np.exp(1j * np.linspace(0, 1, 2 * setting.values + 1))
    power = setting.values
    assert np.allclose(raised_to(spectrum, power), afresh(spectrum, power))
    question = asked("generalized_gaussian", 64, p=4)
    pool = Pool(MODULE, processes=1, queue=1, bounds=Bounds(600.0, 2**32), turns=LocalTurns())
    apart = Pooled(pool)
    here, there = quote(*question, asks=True), apart.run("a", 0.0, quote, *question, asks=True)
    assert (here.described, here.quote.rungs) == (there.described, there.quote.rungs)
    persons = iter(map(str, range(10**6)))
    tasks: dict[str, Callable[[], object]] = {
        "powers in new arrays": lambda: afresh(spectrum, power),
        "powers in place": lambda: raised_to(spectrum, power),
        "preview apart": lambda: apart.run(next(persons), 0.0, quote, *question, asks=True),
        "asked again": lambda: apart.run("0", 0.0, quote, *question, asks=True),
    }
    taken = in_turns(setting.rounds, tasks)
    pool.close()
    return [
        *longest(setting),
        *(median(name, times, "s") for name, times in taken.items()),
        ratio(
            "in new arrays over in place", taken["powers in new arrays"], taken["powers in place"]
        ),
        ratio("a preview over asking again", taken["preview apart"], taken["asked again"]),
    ]


def afresh(base: Any, exponent: int) -> Any:
    """Raise to a power as it is written down, with an array for every square."""
    result = np.ones_like(base)
    while exponent:
        if exponent & 1:
            result = result * base
        exponent >>= 1
        base = base * base
    return result
