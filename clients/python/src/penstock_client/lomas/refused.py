"""Refuse what lomas runs with other libraries, with the reason and what to do instead."""

from typing import NoReturn

from penstock_client.errors import InvalidArgument

REASONS = {
    "opendp": "An OpenDP pipeline is a program that runs on the data with noise of its own, which"
    " this server does not run. Ask for the statistic in SQL: smartnoise_sql.query(...).",
    "diffprivlib": "Models are not trained on the data. Release moments, from which a regression is"
    " read at no further charge: SELECT REGR_SLOPE(y, x) FROM df.",
    "smartnoise_synth": "Synthetic rows are made from released counts, at no further charge:"
    " penstock_client.Client().synthetic(release).",
}
"""The libraries of lomas that this server does not have, and what to do instead."""


class Refused:
    """Represent a library of lomas whose queries are refused."""

    def __init__(self, library: str) -> None:
        self._reason = f"{library} queries are not answered here. {REASONS[library]}"

    def query(self, *arguments: object, **more: object) -> NoReturn:
        """Raise ``InvalidArgument`` with the reason."""
        del arguments, more
        raise InvalidArgument(self._reason)

    cost = query
