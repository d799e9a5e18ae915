"""Refuse noise that several tables do not take, and datasets that admit no other."""

from penstock.errors import InvalidInput
from penstock.services.schemas.queries import Terms


def require_gaussian(terms: Terms, delta: float, takes: str, because: str) -> None:
    """Raise ``InvalidInput`` for other noise than Gaussian, and for any at ``delta`` 0.

    ``takes`` are the first words of the reason, and ``because`` its last.
    """
    if not delta:
        raise InvalidInput(
            f"{takes} gaussian noise alone, which a dataset with delta 0 does not admit. Count by"
            " group with laplace noise, or register the data with a delta such as 1e-6.",
            pointer="/mechanism",
        )
    if terms.mechanism != "gaussian":
        raise InvalidInput(
            f"{takes} gaussian noise alone, and no {terms.mechanism}: {because}. Choose gaussian.",
            pointer="/mechanism",
        )
