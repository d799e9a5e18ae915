"""Provide lomas's names for what the client does, for those who come from there."""

import unicodedata
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from penstock_client.dummy import Dummy
from penstock_client.errors import InvalidArgument
from penstock_client.models import Budget, Dataset, HistoryItem, PrivacyLoss, TierBudget

if TYPE_CHECKING:
    import pandas as pd


class LomasNames(ABC):
    """Provide the names that lomas uses for methods of the client."""

    @abstractmethod
    def dataset(self, dataset: str) -> Dataset:
        """Return one dataset as it was declared."""

    @abstractmethod
    def dummy(self, dataset: str, *, rows: int = 100, seed: int = 0) -> Dummy:
        """Return made-up rows of the declared columns."""

    @abstractmethod
    def history(self, query: str | None = None, *, user: str | None = None) -> list[HistoryItem]:
        """Return what was released to the caller."""

    @abstractmethod
    def budget(self, dataset: str) -> Budget:
        """Return the budget of each tier of a dataset."""

    def get_dataset_metadata(self, dataset: str) -> Dataset:
        """Return ``dataset(dataset)``, under lomas's name."""
        return self.dataset(dataset)

    def get_dummy_dataset(self, dataset: str, nb_rows: int = 100, seed: int = 42) -> "pd.DataFrame":
        """Return ``dummy`` as a pandas frame, under lomas's name.  Raises ``MissingExtra``."""
        return self.dummy(dataset, rows=nb_rows, seed=seed).to_pandas()

    def get_previous_queries(self, query: str | None = None) -> list[HistoryItem]:
        """Return ``history(query)``, under lomas's name."""
        return self.history(query)

    def get_remaining_budget(self, dataset: str, tier: str | None = None) -> PrivacyLoss:
        """Return the remaining budget of a tier, under lomas's name.

        The tier is the caller's clearance by default; for admins and auditors it is the most
        trusted tier.
        """
        return tier_budget(self.budget(dataset), tier).remaining

    def get_total_spent_budget(self, dataset: str, tier: str | None = None) -> PrivacyLoss:
        """Return the spent budget of the same tier, under lomas's name."""
        return tier_budget(self.budget(dataset), tier).spent


def tier_budget(budget: Budget, tier: str | None) -> TierBudget:
    """Return the budget of a tier, by default of the most trusted one that is shown."""
    for tier_budget in reversed(budget.tiers):
        if tier is None or _folded(tier_budget.tier) == _folded(tier):
            return tier_budget
    shown = ", ".join(tier_budget.tier for tier_budget in budget.tiers) or "none"
    raise InvalidArgument(f"No budget of tier {tier!r} is visible to you; visible tiers: {shown}.")


def _folded(name: str) -> str:
    """Return a name without differences of case and Unicode spelling, to compare names."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", name).casefold())
