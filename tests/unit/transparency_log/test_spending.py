"""Test the sums of what accounts have spent."""

import pytest
from tests.unit.worlds import World

from penstock.transparency_log.spending import accounts, peaks

pytestmark = pytest.mark.each_database


def test_each_account_has_what_its_last_charge_says(visits: World) -> None:
    visits.push("second", share=0.01, levels=None)
    with visits.server.database.read() as session:
        spent, most = accounts(session), peaks(session)
    assert len(spent) == 3
    assert all(name.startswith("sites@1/") for name in spent)
    assert all(loss > 0 for loss, _ in spent.values())
    assert most == spent, "nothing was repriced"
