"""Test what a charge takes of an account, as callers see it."""

import math

import pytest
from tests.support.rows import row

from penstock.accounting import NOTHING, account_of, limit_of, share_of
from penstock.persistence.tables import Tier
from penstock.services.ledger.accounts import TierAccount
from penstock.services.ledger.room_left import charge_of, room_of

ACCOUNT = TierAccount(row(Tier, name="public"), account_of(1.0, 1e-6), NOTHING, 0)


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_a_charge_is_stated_as_its_share_of_the_limit(share: float) -> None:
    charge = charge_of(ACCOUNT, share_of(ACCOUNT.account, share))
    assert charge.share == pytest.approx(share)
    assert charge.order is None or math.isfinite(charge.order)


def test_what_fits_leaves_room_for_itself_and_what_does_not_says_what_would() -> None:
    half = share_of(ACCOUNT.account, 0.5)
    fits = room_of(ACCOUNT, half)
    assert (fits.fits, fits.remaining_share) == (True, 1.0)
    full = TierAccount(ACCOUNT.tier, ACCOUNT.account, limit_of(ACCOUNT.account), 1)
    short = room_of(full, half)
    assert (short.fits, short.remaining_share, short.largest_share) == (False, 0.0, 0.0)
    assert short.needed_share == pytest.approx(0.5)
