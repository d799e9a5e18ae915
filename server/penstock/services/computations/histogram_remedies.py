"""Find terms of a sparse histogram that its budgets allow.

They are solved for where the request leaves them open, and suggested where it does not fit.

A remedy is suggested after it was calibrated and priced as registering would do it, so that it is
accepted unless others spend in the meantime.  It depends on public numbers alone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from penstock.accounting.charging.budget import LARGEST_EXPONENT, Account
from penstock.accounting.charging.ledger import Entry, check, limit_of
from penstock.connectors.planning.prepare import PreparedQuery
from penstock.connectors.specs.histograms import domain_of
from penstock.errors import InvalidInput
from penstock.persistence.tables.people import Tier
from penstock.privacy.sensitivity import Sensitivity
from penstock.services.ledger.accounts import TierAccount, largest_share
from penstock.services.ledger.quotes import calibrate_and_price
from penstock.services.noise.histogram_settings import EXAMPLE_UNITS, most, rows_of
from penstock.services.schemas.histograms import DEFAULT_HISTOGRAM_LEVELS, MOST_FITTED
from penstock.services.schemas.queries import HistogramRequest
from penstock.structures.sparse_histogram.charges import CEILING_ERROR, false_key_failure
from penstock.structures.sparse_histogram.domain import Uint64
from penstock.structures.sparse_histogram.threshold import LARGEST_CHANCE

FEWEST = 1e-9
"""The smallest part of the requested false keys that is tried."""

MODEST = 0.1
"""The part of what accounts keep for failures that the keys of a solved number may take."""

_HALVINGS = 12
"""The bisection steps over nine decades: the largest that fits is then known to two digits."""

Accounts = Sequence[tuple[Tier, TierAccount | None]]
Former = Sequence[tuple[Sequence[str], TierAccount]]
"""Accounts of deleted tiers, each with the names of the tiers below that it pays for."""

Fits = Callable[[HistogramRequest], bool]


def remedies(
    request: HistogramRequest,
    prepared: PreparedQuery,
    accounts: Accounts,
    former: Former,
    delta: float,
    limit: Tier | None = None,
) -> tuple[str, float]:
    """Describe the terms that would fit in place of ``request``, which the budgets do not allow.

    The second result is the largest share that would fit, 0 if none does.

    Tried are the most false keys, the most levels, or the largest share, each with the rest as it
    was requested; if none of these is enough, two or three of them together.
    """

    def fits(changed: HistogramRequest, planned: PreparedQuery = prepared) -> bool:
        return _fits(changed, planned, accounts, former, delta, limit)

    ways = list(_ways(request, accounts, fits))
    fewer = EXAMPLE_UNITS * rows_of(request)
    if fewer < prepared.bound and fits(request, replace(prepared, bound=Fraction(fewer))):
        ways.append((f"a max_units of at most {EXAMPLE_UNITS} of its dataset", request.share))
    if ways:
        shares = [share for _, share in ways if share is not None]
        facts = "; or ".join(words for words, _ in ways)
        return f"What would fit: {facts}.", max(shares, default=0.0)
    epsilons = [account.account.promised for _, account in accounts if account is not None]
    largest = max(epsilons, default=0.0)
    facts = (
        "No number of false keys and of levels would fit beside what is spent. The failure"
        " probability of a sparse histogram's sampler grows with e to the power of a budget's"
        f" epsilon, and the largest is {largest:g}: count it in a dataset with smaller budgets."
    )
    return facts, 0.0


def fitted(
    request: HistogramRequest,
    prepared: PreparedQuery,
    accounts: Accounts,
    former: Former,
    delta: float,
    limit: Tier | None = None,
) -> float:
    """Return the largest number of false keys, up to ``MOST_FITTED``, that all accounts pay for.

    If the request has levels, the keys' failures take at most the ``MODEST`` part of what an
    account keeps for failures: the charge is proportional to the number, and the threshold hardly
    depends on it, so the rest is left to other queries.  A share limits them by itself.

    It has two significant digits, and depends on nothing but these inputs.  If none would fit, it
    is the smallest that is tried: the refusal then says what else would have to change.
    """
    largest = min(MOST_FITTED, LARGEST_CHANCE * domain_of(request.domain).size)
    most_keys = two_digits(largest)
    fewest = two_digits(most_keys * FEWEST)
    terms = prepared, accounts, former, delta, limit

    def changed_to(number: float) -> HistogramRequest:
        return request.model_copy(update={"false_keys": number})

    least = _due(changed_to(fewest), *terms)
    part = MODEST if request.levels else 1.0

    def fits(changed: HistogramRequest) -> bool:
        due = _due(changed, *terms)
        return _has_room(due) and all(
            cost.failure - before.failure <= part * limit_of(account.account).failure
            for (account, cost), (_, before) in zip(due, least, strict=True)
        )

    if not _has_room(least):
        return fewest
    capped = changed_to(most_keys)
    return most_keys if fits(capped) else _most_keys(capped, fits) or fewest


def _fits(
    request: HistogramRequest,
    prepared: PreparedQuery,
    accounts: Accounts,
    former: Former,
    delta: float,
    limit: Tier | None,
) -> bool:
    """Return True if registering ``request`` would find room in every account."""
    return _has_room(_due(request, prepared, accounts, former, delta, limit))


def _has_room(due: Sequence[tuple[TierAccount, Entry]]) -> bool:
    return bool(due) and all(
        check(account.account, account.spent, cost) is None for account, cost in due
    )


def _due(
    request: HistogramRequest,
    prepared: PreparedQuery,
    accounts: Accounts,
    former: Former,
    delta: float,
    limit: Tier | None,
) -> Sequence[tuple[TierAccount, Entry]]:
    """Return every account's charge for ``request``; none if it would be refused before that."""
    try:
        quote = calibrate_and_price(request, prepared, accounts, delta, limit)
    except InvalidInput:
        return ()
    own = {account.tier.name: (account, rungs, cost) for account, rungs, cost in quote.by_tier()}
    due = [(account, cost) for account, _, cost in own.values()]
    for below, account in former:
        reached = next((own[name][1] for name in reversed(below) if name in own), [])
        for rung in reached:
            terms = prepared.dimension, request.max_levels
            due.append((account, quote.process.price(rung, account.account, *terms)))
    return due


def _ways(
    request: HistogramRequest, accounts: Accounts, fits: Fits
) -> Iterator[tuple[str, float | None]]:
    """Yield each change that is enough, in words, with its share if it is a change of shares."""
    keys = _most_keys(request, fits)
    if keys is not None:
        yield f"false_keys of at most {keys:g}", request.share
    fewest = _fewest_levels(request, accounts)
    level_count = _most_levels(request, fewest, fits)
    if level_count is not None:
        yield f"max_levels of at most {level_count}", request.share
    shares = [
        request.model_copy(update={"levels": None, "share": share}) for share in _left(accounts)
    ]
    shared = next((share for share in shares if share != request and fits(share)), None)
    if shared is not None:
        yield f"a share of {shared.share:g}{_in_place(request)}", shared.share
    elif keys is None and level_count is None:
        yield from _together(request, shares[:1], fewest, fits)


def _in_place(request: HistogramRequest) -> str:
    return " in place of levels" if request.levels else ""


def _together(
    request: HistogramRequest, shares: Sequence[HistogramRequest], fewest: int, fits: Fits
) -> Iterator[tuple[str, float | None]]:
    """Return the first of two or three changes that are enough together, in words."""
    for base in (request, *shares):
        fewer = base.model_copy(update={"max_levels": min(fewest, base.max_levels)})
        enough = fits(fewer)
        keys = None if enough else _most_keys(fewer, fits)
        if enough or keys is not None:
            sentence = f"max_levels of {fewer.max_levels}"
            if keys is not None:
                sentence += f" together with false_keys of at most {keys:g}"
            if base is not request:
                sentence += f" and a share of {base.share:g}{_in_place(request)}"
            yield sentence, base.share
            return


def _most_keys(request: HistogramRequest, fits: Fits) -> float | None:
    """Return the largest number of false keys that fits, to two digits, or None if none does."""

    def capped(number: float) -> HistogramRequest:
        return request.model_copy(
            update={"false_keys": at_most(request.expected_false_keys, number)}
        )

    high = most(request.expected_false_keys)
    low = high * FEWEST
    if not fits(capped(low)):
        return None
    for _ in range(_HALVINGS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if fits(capped(middle)) else (low, middle)
    shown = two_digits(low)
    return shown if fits(capped(shown)) else None


def at_most(false_keys: float | Mapping[str, float], number: float) -> float | Mapping[str, float]:
    """Return the requested false keys, each lowered to ``number`` if it is above."""
    if isinstance(false_keys, Mapping):
        return {name: min(key, number) for name, key in false_keys.items()}
    return min(false_keys, number)


def two_digits(number: float) -> float:
    """Return a number rounded down to two significant digits."""
    mantissa, exponent = f"{number:.6e}".split("e")
    return float(f"{int(float(mantissa) * 10)}e{int(exponent) - 1}")


def _fewest_levels(request: HistogramRequest, accounts: Accounts) -> int:
    """Return the number of levels that tiers may come to have."""
    if request.levels is not None:
        return len(request.levels)
    return sum(account is not None for _, account in accounts)


def _most_levels(request: HistogramRequest, fewest: int, fits: Fits) -> int | None:
    """Return the largest number of levels below the requested one that fits, or None."""

    def capped(number: int) -> HistogramRequest:
        return request.model_copy(update={"max_levels": number})

    low, high = fewest, request.max_levels
    if low >= high or not fits(capped(low)):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(capped(middle)) else (low, middle)
    return low


def _left(accounts: Accounts) -> list[float]:
    """Return the largest share that every account has left, to two digits, and parts of it.

    Parts are included because less noise needs a coarser lattice, whose failures may not fit.
    """
    shares = [largest_share(account) for _, account in accounts if account is not None]
    if not shares or min(shares) <= 0:
        return []
    return [two_digits(min(shares) / part) for part in _PARTS]


_PARTS = (1, 2, 4, 8)


@dataclass(frozen=True)
class Example:
    """Hold terms that registering a sparse histogram would accept, as a form's example."""

    false_keys: float
    max_levels: int


def example(accounts: Accounts, max_units: int, share: float, delta: float) -> Example | None:
    """Return the most levels, and up to 0.1 false keys, that ``share`` of every account pays.

    It counts people under keys of 64 bits, one key each.  Returns None if not even one level with
    hardly any false keys would fit.
    """
    whole = Fraction(1)
    people = PreparedQuery(None, 2, whole, Fraction(max_units), Sensitivity(whole, whole, whole))
    request = HistogramRequest.model_validate({**_EXAMPLE_REQUEST, "share": share})
    opened = [account for _, account in accounts if account is not None]
    for level_count in (DEFAULT_HISTOGRAM_LEVELS, 8, 4, 2, 1):
        for keys in (0.1, 0.01, 0.001, 1e-4, 1e-6):
            # This rules out most of them without a search.
            if delta == 0 or not all(_pays(whole, share, keys, level_count) for whole in opened):
                continue
            candidate = request.model_copy(update={"false_keys": keys, "max_levels": level_count})
            if _fits(candidate, people, accounts, (), delta, None):
                return Example(keys, level_count)
    return None


_EXAMPLE_REQUEST: Mapping[str, object] = {
    "name": "example",
    "dataset": "example",
    "structure": "sparse_histogram",
    "domain": {"type": "uint64"},
    "false_keys": 1,
    "group_by": [{"column": "key"}],
    "aggregate": {"type": "count_units"},
    "contribution": {"max_groups": 1},
    "mechanism": "gaussian",
}


def _pays(account: TierAccount, share: float, keys: float, level_count: int) -> bool:
    """Return True if a share pays for the failures at keys of count 0, on the finest lattice."""
    own: Account = account.account.pricing
    exponent = min(own.epsilon, LARGEST_EXPONENT)
    needed = false_key_failure(keys, Uint64().size, level_count, exponent, CEILING_ERROR)
    return needed <= own.failure_limit * share
