"""Define what a plan with open keys means, row by row in plain Python."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable

from tests.unit.connectors.reference import Cells, holds, order_of, read

from penstock.connectors.planning.plan import Plan
from penstock.errors import InvalidInput
from penstock.structures.sparse_histogram import Sha256Prefix


def answer(plan: Plan, rows: Iterable[Cells], salt: bytes) -> dict[int, int]:
    """Return the counts that are not 0, by rank."""
    assert plan.open_keys is not None
    column, domain = plan.open_keys.column, plan.open_keys.domain
    found: dict[tuple[str, str], int] = defaultdict(int)
    ranks: dict[str, int] = {}
    for number, cells in enumerate(rows):
        unit = str(number) if plan.unit is None else read(plan.unit, cells[plan.unit.name])
        key = read(column, cells[column.name])
        kept = all(holds(each, cells) for each in plan.filters)
        if unit is None or key is None or not kept or not isinstance(key, str | int):
            continue
        if isinstance(domain, Sha256Prefix):
            key = hashlib.sha256(str(key).encode()).hexdigest()[:16]
        try:
            ranks[str(key)] = domain.rank(key)
        except InvalidInput:
            continue
        found[str(unit), str(key)] += 1
    totals: dict[int, int] = defaultdict(int)
    for unit in {unit for unit, _ in found}:
        reached = sorted((order_of(unit, key, salt), key) for owner, key in found if owner == unit)
        for _, key in reached[: plan.max_groups]:
            totals[ranks[key]] += min(found[unit, key], plan.max_rows)
    return dict(totals)
