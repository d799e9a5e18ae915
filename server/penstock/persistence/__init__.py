"""Store everything in tables, and change it in transactions.

* ``tables``        the tables, by subject
* ``database``      read and write transactions
* ``statements``    frequent statements, compiled once
* ``locks``         who may change what
* ``row_numbers``   numbers of rows, taken before the rows are stored
* ``row_authentication``  an HMAC of each row that decides anything, checked on every read
* ``row_authentication_upgrade``  rows of older schemas, signed for the first time
* ``protocol``      the operations that a database must offer
* ``sqlite``, ``postgresql``  how each does it; ``dialects`` chooses by URL
* ``write_queue``   who tries first to be SQLite's one writer
* ``append_only``   the triggers that keep history as it was written
* ``editions``      the triggers that tell when what releases rest on has changed
* ``migrate``       schema versions
* ``backups``       copies of the whole database
* ``chunks``        the chunks of long vectors, in a folder or a bucket

Only services open transactions.
"""

from penstock.persistence import migrate
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
    "take_numbers",
]
