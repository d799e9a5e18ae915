"""Release the statistics of a study through the services: registered, released, read by each tier.

Every run has a dataset of its own, whose budgets are the tiers' epsilons: so whatever is released
there was charged no more than that.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.benchmarks.database.world import PATIENCE
from tests.benchmarks.running_sums.streams import numbered_streams
from tests.benchmarks.utility.studies import BINS, Study

from penstock.services.access.principals import OPERATOR, Principal, acting_as
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.operations import home
from penstock.services.people import tier_changes, users
from penstock.services.queries import registration
from penstock.services.releases import releases
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.users import UserSpec
from penstock.services.schemas.queries import ComputedQueryRequest, DatasetRequest, ReleaseRequest
from penstock.services.schemas.views import ReleaseView
from penstock.settings import Settings

DELTA = 1e-6
TIERS = ("public", "partner", "internal", "trusted")
"""From the least trusted to the most."""


@contextmanager
def fresh_server() -> Iterator[Server]:
    """Yield a server with four tiers and an analyst in each, whose noise has fixed keys."""
    with TemporaryDirectory(prefix="penstock-benchmark-") as folder:
        settings = Settings(
            home=Path(folder) / "home", log_patience=PATIENCE, level_bytes_per_day=0
        )
        home.create(settings)
        server = home.open_server(settings, randomness=numbered_streams("utility"))
        (settings.home / "data").mkdir()
        for name in TIERS:
            tier_changes.create(server, OPERATOR, TierSpec(name=name))
            spec = UserSpec(name=f"of-{name}", roles=["analyst"], clearance=name)
            users.create(server, OPERATOR, spec)
        try:
            yield server
        finally:
            server.database.close()


def released(
    server: Server, study: Study, name: str, aggregate: dict[str, Any], epsilons: Sequence[float]
) -> list[ReleaseView]:
    """Return releases of a statistic, one for each epsilon from the largest to the smallest.

    The largest is the most trusted tier's.  ``name`` is of the dataset, which is registered, and of
    the query.
    """
    # A file of its own: the product refuses to register one file twice, with two budgets.
    file = server.settings.home / "data" / f"{name}.parquet"
    study.write(file, name)
    tiers = TIERS[::-1][: len(epsilons)]
    levels = dict(zip(tiers, epsilons, strict=True))
    dataset = {
        "name": name,
        "source": {"engine": "duckdb", "uri": str(file)},
        "privacy_unit": {"rows": 1},
        "neighboring": "add_remove",
        "delta": DELTA,
        "accountant": "gaussian",
        "max_units": 100_000,
        "columns": _columns(study),
        "budgets": {tier: {"epsilon": epsilon} for tier, epsilon in levels.items()},
    }
    datasets.register(server, OPERATOR, DatasetRequest.model_validate(dataset))
    query = {
        "name": name,
        "dataset": name,
        "aggregate": aggregate,
        "mechanism": "gaussian",
        "share": 1.0,
    }
    registration.register(server, OPERATOR, ComputedQueryRequest.model_validate(query))
    return [_asked(server, acting_as(server, f"of-{tier}"), name) for tier in tiers]


def median(study: Study) -> dict[str, Any]:
    """Return the aggregate of the median."""
    lower, upper = study.bounds[study.median_of]
    bins = {"lower": lower, "upper": upper, "bins": BINS}
    return {"type": "quantiles", "column": study.median_of, "probabilities": [0.5], **bins}


def slope(study: Study) -> dict[str, Any]:
    """Return the aggregate of the slope."""
    return {"type": "regression", "outcome": study.outcome, "predictors": [study.predictor]}


def marginals(study: Study) -> dict[str, Any]:
    """Return the aggregate of all two-way tables."""
    columns = [f"code_{name}" for name in study.codes]
    sets = [[f"code_{one}", f"code_{other}"] for one, other in study.pairs]
    return {"type": "marginals", "columns": columns, "sets": sets}


def estimate(view: ReleaseView, name: str) -> float | None:
    """Return an estimate of a release by its name; None where it is too noisy to have one."""
    return next((each.value for each in view.estimates or () if each.name == name), None)


def tables(view: ReleaseView) -> list[list[float]]:
    """Return the cells of a release's tables."""
    return [[cell.value for cell in table.cells] for table in view.marginals or ()]


def _columns(study: Study) -> dict[str, Any]:
    numbers = {
        name: {"type": "number", "lower": lower, "upper": upper}
        for name, (lower, upper) in study.bounds.items()
    }
    codes = {
        f"code_{name}": {"type": "integer", "categories": list(range(size))}
        for name, size in study.sizes.items()
    }
    return numbers | codes


def _asked(server: Server, analyst: Principal, query: str) -> ReleaseView:
    return releases.request(server, analyst, query, ReleaseRequest()).view
