"""What is kept, and the transactions in which it is kept.

* ``tables``       the tables, by subject
* ``database``     read and write transactions
* ``locks``        who may change what
* ``row_numbers``  numbers of rows that are not stored yet
* ``protocol``     what a database is asked for
* ``sqlite``, ``postgresql``  how each does it; ``dialects`` chooses by URL
* ``append_only``  the triggers that keep history as it was written
* ``migrate``      schema versions
* ``backup``       a copy of it all, by ``sqlite_copy`` or ``postgresql_dump``;
  ``backup_contents`` reads what one needs of keys

Only services open transactions.
"""

from penstock.persistence import migrate, tables
from penstock.persistence.database import Database
from penstock.persistence.dialects import duplicate
from penstock.persistence.locks import lock_dataset, lock_log, lock_query
from penstock.persistence.protocol import Need
from penstock.persistence.row_numbers import take as take_numbers

__all__ = [
    "Database",
    "Need",
    "duplicate",
    "lock_dataset",
    "lock_log",
    "lock_query",
    "migrate",
    "tables",
    "take_numbers",
]
