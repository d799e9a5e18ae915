"""Register and show datasets: a declared source, its key, and the budget of each tier."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sqlmodel import Session, col, func, select
from sqlmodel.sql.expression import SelectOfScalar

from penstock.accounting.charging.budget import Account
from penstock.connectors.choice import snapshot_of
from penstock.connectors.planning import prepare
from penstock.connectors.progress import Progress, silent
from penstock.connectors.specs.sources import VECTORS
from penstock.errors import Conflict, InvalidInput, NameTaken, NotFound
from penstock.persistence.locks import lock_dataset
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset, TierBudget
from penstock.persistence.tables.people import Tier
from penstock.privacy.neighboring import NeighboringRelation
from penstock.sentences import definitions
from penstock.services.access.principals import Principal, require_still
from penstock.services.access.two_person_rule import require_no_larger
from penstock.services.context import Server
from penstock.services.datasets.data_folder import located
from penstock.services.datasets.declarations import number_of, require_as_declared
from penstock.services.datasets.fingerprints import (
    SALT_SIZE,
    Fingerprint,
    fingerprints_of,
    refuse_twin,
    sealed,
    sealed_fingerprint,
    without_snapshot,
)
from penstock.services.datasets.logged_datasets import record_registration
from penstock.services.datasets.look_alikes import notices
from penstock.services.datasets.population import join, of_request, others_of, spec_of
from penstock.services.ledger.accounts import resolve
from penstock.services.ledger.tier_budgets import largest, set_budget
from penstock.services.ledger.version_chains import all_versions, last_version, versions_of
from penstock.services.noise.keys import fresh_dataset_key, require_keys
from penstock.services.pagination import Page, Window
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.people import clearance_of, ordered_tiers
from penstock.services.schemas.queries import DatasetRequest, VersionRequest
from penstock.services.schemas.views import (
    DatasetView,
    PrivacyBudget,
)
from penstock.services.schemas.wordings.wordings import WordingView
from penstock.services.wordings.stored import of_dataset, of_datasets
from penstock.services.wordings.wordings import settle
from penstock.spec_fields import folded


def register(
    server: Server, principal: Principal, request: DatasetRequest, progress: Progress = silent
) -> DatasetView:
    """Register a dataset; only its source's format and column names are checked.

    Raises ``InvalidInput`` for a spec or a file that is not valid, ``NameTaken``, and
    ``Conflict`` for a file that is registered already, whatever it is called there, and if losses
    in a dataset that holds the same people cannot be added to those in it.
    """
    principal.require("admin")
    request, fingerprints = _examined(server, request, progress)
    with server.database.write() as session:
        taken = all_versions(session, folded(request.name))
        for dataset in taken:
            if dataset.withdrawn_at is None:
                raise NameTaken(
                    f"There is a dataset {dataset.name!r} already; choose another name."
                )
        # Versions that were withdrawn keep their numbers, and their meaning in the log.
        version = taken[-1].version + 1 if taken else 1
        other = of_request(session, request)
        return _registered(
            session, server, principal, request, fingerprints, version=version, other=other
        )


def add_version(
    server: Server,
    principal: Principal,
    name: str,
    request: VersionRequest,
    also: Callable[[Session, int], None] = lambda _session, _version: None,
    *,
    refilled: bool = False,
) -> DatasetView:
    """Register new data of a dataset, with separate budgets.

    New queries use them; those of earlier versions stay.  ``also`` is called with the version's
    number in the transaction that stores it, which what it raises undoes.  ``refilled`` allows the
    view of an earlier version, whose rows nobody recognizes: both count in full.

    Raises ``NotFound``, ``Conflict`` for a dataset of pushed vectors and for a file that is
    registered already, ``InvalidInput`` for a file without the declared columns and for statements
    that are not valid, and ``Forbidden`` for a budget larger than any that the dataset has under
    the two-person rule.
    """
    principal.require("admin")
    with server.database.read() as session:
        before = dataset_by_name(session, name)
    spec, fingerprints = _examined(server, declared_next(before, request))
    with server.database.write() as session:
        newest = dataset_by_name(session, name)
        require_as_declared(lock_dataset(session, required(newest.id)), before)
        most = largest(session, versions_of(session, newest))
        require_no_larger(server, most, [budget.epsilon for budget in request.budgets.values()])
        made = _registered(
            session,
            server,
            principal,
            spec,
            fingerprints,
            version=last_version(session, newest) + 1,
            disjoint_units=request.disjoint_units,
            before=newest,
            refilled=refilled,
        )
        also(session, made.version)
        return made


def listing(
    server: Server,
    principal: Principal,
    window: Window,
    chosen: Callable[[Dataset, WordingView], bool] | None = None,
) -> Page[DatasetView]:
    """List the datasets that the caller may see, and ``chosen`` chooses.

    Analysts see those with a budget for them.
    """
    with server.database.read() as session:
        limit = visible_below(session, principal)
        newest = (
            select(func.max(col(Dataset.id)))
            .where(col(Dataset.withdrawn_at).is_(None))
            .group_by(col(Dataset.folded))
        )
        if limit is not None:
            newest = newest.where(col(Dataset.id).in_(funded(limit)))
        statement = (
            select(Dataset)
            .where(col(Dataset.id) > window.after, col(Dataset.id).in_(newest))
            .order_by(col(Dataset.id))
        )
        if limit is None and not principal.roles & {"admin", "auditor"}:
            return Page([], None)
        rows = session.exec(statement if chosen else statement.limit(window.limit + 1)).all()
        texts = of_datasets(session, [row.folded for row in rows])
        if chosen is not None:
            rows = [row for row in rows if chosen(row, texts.get(row.folded, WordingView()))]
        return window.page(
            rows,
            lambda row: view(session, row, limit, texts.get(row.folded, WordingView())),
            lambda dataset: required(dataset.id),
        )


def show(server: Server, principal: Principal, name: str) -> DatasetView:
    """Show one dataset.  Raises ``NotFound``, also if the caller may not see it."""
    with server.database.read() as session:
        dataset = visible_dataset(session, principal, name)
        return view(session, dataset, visible_below(session, principal))


def visible_dataset(session: Session, principal: Principal, name: str) -> Dataset:
    """Return the newest version of a dataset that the caller may see.

    For an analyst that is one with a budget for their tier.  Raises ``NotFound``, with
    one text for missing and for hidden ones.
    """
    newest = dataset_by_name(session, name)
    if principal.roles & {"admin", "auditor"}:
        return newest
    limit = visible_below(session, principal)
    if limit is not None:
        dataset = session.exec(
            select(Dataset)
            .where(
                col(Dataset.folded) == newest.folded,
                col(Dataset.withdrawn_at).is_(None),
                col(Dataset.id).in_(funded(limit)),
            )
            .order_by(col(Dataset.version).desc())
            .limit(1)
        ).first()
        if dataset is not None:
            return dataset
    raise NotFound(f"There is no dataset {name!r}.")


def funded(tier: Tier) -> SelectOfScalar[int]:
    """Return the keys of the versions of datasets that a tier has a budget in."""
    return select(col(TierBudget.dataset_id)).where(col(TierBudget.tier_id) == tier.id)


def visible_below(session: Session, principal: Principal) -> Tier | None:
    """Return the tier up to which the caller sees; ``None`` for admins, auditors, no clearance."""
    if principal.user_id is None or principal.roles & {"admin", "auditor"}:
        return None
    return clearance_of(session, principal.user_id)


def view(
    session: Session, dataset: Dataset, limit: Tier | None, texts: WordingView | None = None
) -> DatasetView:
    """Return a dataset for a reader who may see tiers up to ``limit`` (``None``: all).

    Its ``texts`` are read unless they are given.
    """
    spec = spec_of(dataset)
    source = spec.source.model_dump(mode="json", exclude_none=True)
    if limit is not None:
        source = _without_places(source)
    if spec.source.table is not None:
        source["snapshot"] = str(snapshot_of(spec))
    newest: dict[str, PrivacyBudget] = {}
    rows = session.exec(
        select(TierBudget, Tier)
        .join(Tier, col(TierBudget.tier_id) == col(Tier.id))
        .where(col(TierBudget.dataset_id) == dataset.id)
        .order_by(col(Tier.rank), col(TierBudget.version))
    ).all()
    for budget, tier in rows:
        if tier.deleted_at is None and (limit is None or tier.rank <= limit.rank):
            newest[tier.name] = PrivacyBudget(budget.epsilon, budget.delta)
    return DatasetView(
        name=dataset.name,
        version=dataset.version,
        sentence=definitions.of_dataset(json.loads(dataset.spec)),
        declaration=number_of(dataset),
        disjoint_units=dataset.disjoint_units,
        source=source,
        privacy_unit=spec.model_dump(mode="json", include={"privacy_unit"})["privacy_unit"],
        neighboring=dataset.neighboring,
        delta=dataset.delta,
        accountant=spec.accountant,
        columns=spec.model_dump(mode="json", include={"columns"}, exclude_none=True)["columns"],
        budgets=newest,
        registered_at=dataset.created_at,
        same_people_as=_same_people(session, dataset, limit),
        **vars(texts or of_dataset(session, dataset)),
    )


def _without_places(source: Mapping[str, str]) -> dict[str, str]:
    """Return a source for analysts, who are not shown where the server keeps or finds its data."""
    shown = {name: value for name, value in source.items() if name != "connection"}
    if "uri" in shown:
        shown["uri"] = Path(shown["uri"]).name
    if "table" in shown:
        shown["table"] = shown["table"].rpartition(".")[2]
    return shown


def _same_people(session: Session, dataset: Dataset, limit: Tier | None) -> list[str]:
    """Return the other datasets of the same people; for ``limit``, those with a budget for it."""
    others = others_of(session, dataset)
    known = set(session.exec(funded(limit)).all()) if limit is not None and others else ()
    return list(dict.fromkeys(other.name for other in others if limit is None or other.id in known))


def next_version(server: Server, before: Dataset, request: VersionRequest) -> DatasetRequest:
    """Return the spec of a later version; its file's header is read, and it is not hashed.

    Raises as ``add_version`` does for the request.
    """
    return _looked_at(server, declared_next(before, request))


def _looked_at(server: Server, request: DatasetRequest) -> DatasetRequest:
    """Return the request with an absolute path, and a table's version; check names and types."""
    request = prepare.pinned(located(server, request), server.sources)
    prepare.check_source(request, server.sources)
    return request


def _examined(
    server: Server, request: DatasetRequest, progress: Progress = silent
) -> tuple[DatasetRequest, list[Fingerprint]]:
    """Return the checked request, and its file's fingerprint under every stored key."""
    request = _looked_at(server, request)
    if request.source.engine == VECTORS:
        return request, []
    fingerprints = fingerprints_of(server, request, progress)
    progress("storing the declaration")
    return request, fingerprints


def declared_next(before: Dataset, request: VersionRequest) -> DatasetRequest:
    """Return the spec of a version that comes after another; its file is not looked at."""
    spec = spec_of(before)
    if spec.source.engine == "vector":
        raise Conflict(
            f"The vectors of dataset {before.name!r} are pushed, so there is no file that could"
            f" have a new version; push them as new queries."
        )
    if request.source.engine != spec.source.engine:
        raise InvalidInput(
            "A new version comes from the same kind of source as the dataset: name its file.",
            pointer="/source/engine",
        )
    if request.disjoint_units and spec.neighboring is NeighboringRelation.REPLACE:
        raise InvalidInput(
            "Under replace a person may leave one version and enter another, so both may change"
            " at once: their budgets add up. Leave this field out.",
            pointer="/disjoint_units",
        )
    changes: dict[str, object] = {"source": request.source, "budgets": request.budgets}
    if request.max_units is not None:
        changes["max_units"] = request.max_units
    return spec.model_copy(update=changes)


def _registered(
    session: Session,
    server: Server,
    principal: Principal,
    request: DatasetRequest,
    fingerprints: Sequence[Fingerprint],
    *,
    version: int,
    disjoint_units: bool = False,
    before: Dataset | None = None,
    refilled: bool = False,
    other: Dataset | None = None,
) -> DatasetView:
    """Store a version of a dataset after ``before``, if any; ``other`` holds the same people."""
    require_still(session, principal, "admin")
    tiers = ordered_tiers(session)
    accounts = resolve(request.budgets, tiers, request.delta, request.accountant)
    # After all other checks: another file is logged.
    refuse_twin(session, server, fingerprints, before if refilled else None)
    dataset = _store(session, server, principal, request, fingerprints, version, disjoint_units)
    if before is not None and before.people is not None:
        dataset.people = before.people  # data of the same people, even if the data are new
        session.add(dataset)
    require_keys(server)
    _grant(session, server, principal, dataset, tiers, accounts)
    if other is not None:
        join(session, server, principal, dataset, other)
    settle(session, server, principal, dataset, request, fresh=True)
    remarks = [*without_snapshot(request), *notices(session, dataset)]
    return replace(view(session, dataset, None), notices=remarks)


def spec_text(request: DatasetRequest) -> str:
    """Return the spec as it is stored."""
    return json.dumps(request.model_dump(mode="json"), ensure_ascii=False)


def _store(
    session: Session,
    server: Server,
    principal: Principal,
    request: DatasetRequest,
    fingerprints: Sequence[Fingerprint],
    version: int,
    disjoint_units: bool,
) -> Dataset:
    dataset = Dataset(
        name=request.name,
        folded=folded(request.name),
        version=version,
        disjoint_units=disjoint_units,
        spec=spec_text(request),
        neighboring=str(request.neighboring),
        delta=request.delta,
        wrapped_kek=fresh_dataset_key(server, folded(request.name), version),
        created_at=server.clock(),
        by=principal.name,
    )
    dataset.sealed_salt = sealed(server, dataset, os.urandom(SALT_SIZE), "salt")
    if fingerprints:
        dataset.sealed_fingerprint = sealed_fingerprint(server, dataset, fingerprints[0])
    session.add(dataset)
    session.flush()
    record_registration(session, principal, dataset)
    return dataset


def _grant(
    session: Session,
    server: Server,
    principal: Principal,
    dataset: Dataset,
    tiers: Sequence[Tier],
    accounts: Mapping[str, Account],
) -> None:
    now = server.clock()
    for tier in tiers:
        if tier.name in accounts:
            set_budget(session, principal, dataset, tier, accounts[tier.name], now)
