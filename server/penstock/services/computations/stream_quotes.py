"""Compute the levels and charges of a stream, from its spec and the tiers' accounts alone.

The functions are pure functions of public numbers; see ``computations``.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from penstock.accounting.charging.per_unit import of_unit as sensitivity_of_unit
from penstock.connectors.planning.prepare import PreparedQuery
from penstock.connectors.vector import asserted
from penstock.errors import InvalidInput
from penstock.mechanisms import MECHANISMS
from penstock.mechanisms.gaussian.process import Gaussian
from penstock.mechanisms.laplace.process import Laplace
from penstock.mechanisms.laplace.pure import PureLaplace
from penstock.persistence.tables.people import Tier
from penstock.services.computations.results import StreamQuote
from penstock.services.computations.stream_structure import (
    buffered,
    candidates,
    looking_ahead,
    prepared,
    roots_fit,
    settled,
    trees_only_add,
)
from penstock.services.ledger.accounts import TierAccount
from penstock.services.ledger.quotes import Quote, calibrate_and_price
from penstock.services.ledger.room_left import charge_of, room_of
from penstock.services.noise.kinds.stream_shape import Shape
from penstock.services.noise.process import Process
from penstock.services.schemas.stream_previews import (
    StepErrorView,
    StreamNoiseView,
    StreamPreviewTierView,
    StreamPreviewView,
    StructureErrorView,
    StructureView,
)
from penstock.services.schemas.streams import StreamRequest
from penstock.structures.streams import comparison

Accounts = Sequence[tuple[Tier, TierAccount | None]]


@dataclass(frozen=True)
class StreamTerms:
    """Hold what the server determines about a stream beside its spec.

    ``steps`` is the largest number of elements that one unit is in, ``most`` the largest number of
    values in an element; ``version`` and ``delta`` are the dataset's.
    """

    dataset: str
    version: int
    delta: float
    steps: int
    most: int


def calibrate_and_price_stream(
    request: StreamRequest, terms: StreamTerms, accounts: Accounts, limit: Tier | None = None
) -> tuple[Shape, PreparedQuery, Quote]:
    """Settle the structure of a stream, its charge, and each level.

    Of the structures that ``auto`` may mean it is the best one that takes these levels.  A Laplace
    tree that subtracts, which is charged more, is passed over where the budgets lack room.  Tiers
    above ``limit`` are left out of what the caller is told.  Raises ``InvalidInput``.
    """
    if any(account is not None and account.account.squares for _, account in accounts):
        raise InvalidInput(
            f"The accountant of {terms.dataset} is 'gaussian', whose squares of mu are proved for"
            f" queries and not for streams. Register the data with the accountant 'renyi' for"
            " streams.",
            pointer="/dataset",
        )
    if request.dimension > terms.most:
        raise InvalidInput(
            f"An element has {request.dimension} numbers; this server allows {terms.most}.",
            pointer="/dimension",
        )
    *better, last = candidates(request, terms.steps, terms.delta)
    for shape in better:
        with suppress(InvalidInput):
            calibrated = _calibrated(request, terms, shape, accounts, limit)
            if request.mechanism != Laplace.name or _fits(calibrated[2]):
                return calibrated
    return _calibrated(request, terms, last, accounts, limit)


def _fits(quote: Quote) -> bool:
    return all(room_of(account, cost).fits for account, _, cost in quote.charges)


def _calibrated(
    request: StreamRequest,
    terms: StreamTerms,
    shape: Shape,
    accounts: Accounts,
    limit: Tier | None,
) -> tuple[Shape, PreparedQuery, Quote]:
    nodes = prepared(request, shape)
    pure = not shape.past_only
    quote = calibrate_and_price(request, nodes, accounts, terms.delta, limit, pure=pure)
    shape = shape.fitted(type(quote.process.mechanism), quote.process.ladder.value(quote.ceiling))
    for rung in set(quote.rungs.values()):
        shape.require_reach(quote.process, rung)
    return shape, nodes, quote


def quote_stream(
    request: StreamRequest, terms: StreamTerms, accounts: Accounts, limit: Tier | None
) -> StreamQuote:
    """Settle a stream, and compare other structures at the same guarantee."""
    shape, nodes, quote = calibrate_and_price_stream(request, terms, accounts, limit)
    only_add = trees_only_add(request.mechanism, terms.delta)
    compared = _compared(request, shape, terms, past_only=only_add)
    own = next(option for option in compared if _same(option, shape))
    noises = [
        _noise(request.mechanism, shape, quote, own, chosen=True)
        if name == request.mechanism and request.structure == "auto"
        else _best_noise(request, name, terms, accounts, limit)
        for name in (Gaussian.name, Laplace.name)
    ]
    noises += _other_tree(request, noises[-1], terms, accounts, limit)
    view = StreamPreviewView(
        stream=request.name,
        dataset=terms.dataset,
        dataset_version=terms.version,
        mechanism=request.mechanism,
        structure=shape.settings(),
        length=shape.length,
        dimension=shape.dimension,
        max_steps_per_unit=shape.max_steps_per_unit,
        granularity=float(shape.granularity(quote.process)),
        sensitivity=quote.process.sensitivity_view(),
        judged_steps=_judged(shape),
        noisiest_step=own.noisiest_step,
        refusal=None,
        tiers=_tiers(terms.delta, shape, quote, own),
        structures=_structures(request, terms.delta, shape, quote, compared),
        noises=noises,
    )
    return StreamQuote(quote, nodes.dimension, view)


_OWN_LEVELS = (
    "Its levels are other numbers: a level is a variance of Gaussian noise and a scale of Laplace"
    " noise. Give epsilon, rho or a share to compare them."
)


def _best_noise(
    request: StreamRequest, name: str, terms: StreamTerms, accounts: Accounts, limit: Tier | None
) -> StreamNoiseView:
    """Return the stream with a mechanism, at the same targets, in the structure of ``auto``."""
    chosen = name == request.mechanism
    targets = (request.levels or {}).values()
    if not chosen and any(getattr(each, "level", None) is not None for each in targets):
        return StreamNoiseView(name, {}, chosen=False, refusal=_OWN_LEVELS, errors=[])
    other = _with_noise(request, name)
    try:
        shape, _, quote = calibrate_and_price_stream(other, terms, accounts, limit)
    except InvalidInput as problem:
        refusal = problem.errors[0][1]
        return StreamNoiseView(name, {}, chosen=chosen, refusal=refusal, errors=[])
    past_only = trees_only_add(name, terms.delta)
    options = _compared(other, shape, terms, past_only=past_only)
    own = next(option for option in options if _same(option, shape))
    return _noise(name, shape, quote, own, chosen=chosen)


def _with_noise(request: StreamRequest, name: str) -> StreamRequest:
    """Return the request with a mechanism, and the structure ``auto``."""
    fields: dict[str, Any] = {"mechanism": name, "structure": "auto", "k": None}
    if name != request.mechanism:
        fields["granularity"] = None
    return request.model_copy(update=fields)


def _other_tree(
    request: StreamRequest,
    best: StreamNoiseView,
    terms: StreamTerms,
    accounts: Accounts,
    limit: Tier | None,
) -> list[StreamNoiseView]:
    """Return the Laplace tree that ``auto`` passed over in favor of ``best``, if there is one."""
    if best.refusal is not None:
        return []
    laplace = _with_noise(request, Laplace.name)
    ahead = looking_ahead(laplace, terms.steps, terms.delta)
    if ahead is None:
        return []
    adding = settled(laplace, terms.steps, terms.delta)
    other = adding if best.structure == ahead.settings() else ahead
    try:
        shape, _, quote = _calibrated(laplace, terms, other, accounts, limit)
    except InvalidInput as problem:
        refusal = problem.errors[0][1]
        return [
            StreamNoiseView(
                Laplace.name, other.settings(), chosen=False, refusal=refusal, errors=[]
            )
        ]
    options = _compared(laplace, shape, terms, past_only=True)
    own = next(option for option in options if _same(option, shape))
    return [_noise(Laplace.name, shape, quote, own, chosen=False)]


def _noise(
    name: str, shape: Shape, quote: Quote, own: comparison.Option, *, chosen: bool
) -> StreamNoiseView:
    """Return a mechanism with its structure, and the errors and charges of each tier."""
    errors = [
        StructureErrorView(
            account.tier.name,
            *_deviations(quote.process, rung, own),
            charge_of(account, cost).share,
        )
        for account, rung, cost in quote.charges
    ]
    return StreamNoiseView(name, shape.settings(), chosen=chosen, refusal=None, errors=errors)


def _judged(shape: Shape) -> int:
    return comparison.HORIZON if shape.length is None else shape.length


def _compared(
    request: StreamRequest, shape: Shape, terms: StreamTerms, *, past_only: bool
) -> list[comparison.Option]:
    """Compare all structures at loss 1 of a unit: epsilon for Laplace noise, rho for Gaussian."""
    element = asserted(request.sensitivity, Fraction(shape.step))
    rounded = 1.0
    if request.mechanism == Gaussian.name:
        rounded = buffered(request, terms.steps).rounded(element)
    return comparison.compare(
        shape.length,
        MECHANISMS[request.mechanism],
        1.0,
        sensitivity_of_unit(element, shape.max_steps_per_unit),
        dimension=shape.dimension,
        past_only=past_only,
        forest=shape.compared,
        columns=shape.max_steps_per_unit,
        rounded=rounded,
    )


def _deviations(process: Process, rung: int, option: comparison.Option) -> tuple[float, float]:
    """Return standard deviations at the guarantee of ``rung``: over all steps, and the largest."""
    level, of = float(process.ladder.value(rung)), process.sensitivity
    if process.mechanism.name == Laplace.name:
        factor = (level / float(of.l1)) ** 2
    else:
        factor = 2 * level / float(of.l2_squared)
    return (option.mean_variance * factor) ** 0.5, (option.largest_variance * factor) ** 0.5


def _tiers(
    delta: float, shape: Shape, quote: Quote, own: comparison.Option
) -> list[StreamPreviewTierView]:
    process = quote.process
    steps = list(_some_steps(_judged(shape)))
    stream_preview_tiers = []
    for account, rung, cost in quote.charges:
        *some, largest = shape.errors(process, rung, (*steps, own.noisiest_step))
        stream_preview_tiers.append(
            StreamPreviewTierView(
                tier=account.tier.name,
                level=process.level(rung),
                guarantee=process.guarantee(rung, delta),
                charge=charge_of(account, cost),
                error=largest,
                root_mean_square=_deviations(process, rung, own)[0],
                steps=[StepErrorView(*step) for step in zip(steps, some, strict=True)],
                room=room_of(account, cost),
            )
        )
    return stream_preview_tiers


def _some_steps(last: int) -> Iterator[int]:
    """Return the steps 1, 2, 5, 10, 20, 50 ... and the last one."""
    power = 1
    while power < last:
        yield from (step for step in (power, 2 * power, 5 * power) if step < last)
        power *= 10
    yield last


def _structures(
    request: StreamRequest,
    delta: float,
    shape: Shape,
    quote: Quote,
    options: Sequence[comparison.Option],
) -> list[StructureView]:
    least = min(option.mean_variance for option in options)
    steadiest = min(option.largest_variance for option in options)
    views = []
    for option in options:
        request_fields = _request(
            option,
            shape,
            past_only=trees_only_add(request.mechanism, delta),
            roots=roots_fit(request),
        )
        own = _same(option, shape)
        terms = None if request_fields is None else _terms(request, request_fields, shape, delta)
        errors = []
        for account, rung, cost in quote.charges:
            share = charge_of(account, cost).share if own else None
            if share is None and terms is not None:
                share = _share(quote.process, account, rung, terms, request.max_levels)
            deviations = _deviations(quote.process, rung, option)
            errors.append(StructureErrorView(account.tier.name, *deviations, share))
        views.append(
            StructureView(
                structure=option.structure,
                settings=option.settings,
                request=request_fields,
                chosen=own,
                least_mean=option.mean_variance == least,
                least_largest=option.largest_variance == steadiest,
                lossless=option.lossless,
                kept=option.kept,
                drawn=option.drawn,
                added=option.added,
                errors=errors,
            )
        )
    return views


def _terms(
    request: StreamRequest, fields: Mapping[str, Any], shape: Shape, delta: float
) -> PreparedQuery:
    """Return what the same stream would be charged with another structure."""
    terms = request.model_copy(update={"k": None, **fields})
    return prepared(terms, settled(terms, shape.max_steps_per_unit, delta))


def _share(
    process: Process, account: TierAccount, rung: int, terms: PreparedQuery, level_count: int
) -> float:
    """Return the share of an account that nodes as in ``terms`` take at ``rung``'s guarantee."""
    own, other = process.sensitivity, terms.sensitivity
    pure = process.mechanism.name == Laplace.name
    times = other.l1 / own.l1 if pure else other.l2_squared / own.l2_squared
    alike = process.ladder.rung_at_or_above(process.ladder.value(rung) * times)
    mechanism = process.mechanism
    if isinstance(mechanism, PureLaplace):
        # Trees that only add are charged their divergences; at delta 0 all are charged alike.
        mechanism = Laplace(mechanism.granularity)
    cost = replace(process, sensitivity=other, mechanism=mechanism).price(
        alike, account.account, terms.dimension, level_count
    )
    return charge_of(account, cost).share


def _same(option: comparison.Option, shape: Shape) -> bool:
    return shape.is_structure(option.structure, option.settings)


def _request(
    option: comparison.Option, shape: Shape, *, past_only: bool, roots: bool
) -> Mapping[str, Any] | None:
    """Return the fields of a stream's spec that request a structure."""
    if past_only and option.settings.get("subtracting"):
        return {"structure": "auto"}
    if option.structure == "epochs":
        k = option.settings["arity"]
        arity: dict[str, Any] = {"structure": "kary", "k": k} if k > 2 else {"structure": "binary"}
        return arity if shape.length is None else {"length": None, **arity}
    if option.structure == "kary":
        plain = bool(option.settings["subtracting"]) == (not past_only)
        return {"structure": "kary", **({"k": option.settings["k"]} if plain else {})}
    if option.structure == "square_root":
        return {"structure": "sqrt"} if roots else None
    return {"structure": option.structure}
