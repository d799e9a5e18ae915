"""Account for releases: what one costs, what is left, and what all of them amount to.

* ``charging``     budgets, the charges of queries and streams, and the ledger that refuses
* ``calibration``  from an epsilon, a width or a share of a budget to a level or a rung
* ``guarantees``   the epsilon of one release that is printed, and that names a level
* ``reporting``    the tight epsilon of any set of releases, and every reading of one
"""

from penstock.accounting.calibration.corrections import CorrectionChoice, best_correction
from penstock.accounting.calibration.levels import ADVICE as SHARE_ADVICE
from penstock.accounting.calibration.levels import VERSION as CALIBRATION_VERSION
from penstock.accounting.calibration.levels import (
    level_for,
    level_for_share,
    rung_for,
    rung_for_share,
    stored_rung_for,
)
from penstock.accounting.calibration.powers import PowerChoice, best_power, power_choice
from penstock.accounting.charging.budget import (
    LARGEST_EXPONENT,
    ORDERS,
    SQUARES,
    Account,
    account_of,
    best_order,
    converted_epsilon,
    renyi_budget,
    require_delta,
)
from penstock.accounting.charging.charges import charge, pure_loss, require_admitted
from penstock.accounting.charging.gaussian_budget import (
    gaussian_account_of,
    gaussian_charge,
    gaussian_level_for_share,
    gaussian_refinement,
)
from penstock.accounting.charging.ledger import (
    FAILURE_UNITS,
    LARGEST_LOSS,
    LOSS_UNITS,
    NOTHING,
    Entry,
    Shortfall,
    check,
    entry,
    largest_part,
    left_of,
    limit_of,
    share_of,
    total,
)
from penstock.accounting.charging.per_unit import of_unit as sensitivity_of_unit
from penstock.accounting.charging.raising import raising, refinement_loss
from penstock.accounting.reporting.composition import import_late
from penstock.accounting.reporting.coordinates import PlacedRelease
from penstock.accounting.reporting.readings import Reading, reading, readings
from penstock.accounting.reporting.report import composed_epsilon

__all__ = [
    "CALIBRATION_VERSION",
    "FAILURE_UNITS",
    "LARGEST_EXPONENT",
    "LARGEST_LOSS",
    "LOSS_UNITS",
    "NOTHING",
    "ORDERS",
    "SHARE_ADVICE",
    "SQUARES",
    "Account",
    "CorrectionChoice",
    "Entry",
    "PlacedRelease",
    "PowerChoice",
    "Reading",
    "Shortfall",
    "account_of",
    "best_correction",
    "best_order",
    "best_power",
    "charge",
    "check",
    "composed_epsilon",
    "converted_epsilon",
    "entry",
    "gaussian_account_of",
    "gaussian_charge",
    "gaussian_level_for_share",
    "gaussian_refinement",
    "import_late",
    "largest_part",
    "left_of",
    "level_for",
    "level_for_share",
    "limit_of",
    "power_choice",
    "pure_loss",
    "raising",
    "reading",
    "readings",
    "refinement_loss",
    "renyi_budget",
    "require_admitted",
    "require_delta",
    "rung_for",
    "rung_for_share",
    "sensitivity_of_unit",
    "share_of",
    "stored_rung_for",
    "total",
]
