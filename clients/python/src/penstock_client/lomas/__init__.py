"""Run notebooks that were written for lomas, with a changed import.

``from penstock_client.lomas import Client`` instead of ``from lomas_client import Client``: queries
in SmartNoise's SQL are answered if this server's SQL has them, and all others are refused with the
reason.

- ``client``: lomas's client of one dataset.
- ``smartnoise_sql``: its SQL queries, with their cost.
- ``refused``: its other libraries.
- ``answers``: answers with lomas's fields.
"""

from penstock_client.lomas.client import Client

__all__ = ["Client"]
