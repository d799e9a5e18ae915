"""Find rows by name, and the levels that tiers have of queries, by subject.

* ``people``    tiers and users, and the tiers that users hold
* ``datasets``  datasets
* ``queries``   queries and streams, and which of them a tier can see
* ``charges``   charges to accounts, as far as a tier can see what they are for
* ``levels``    what tiers are allowed of a query, were given and paid for

Each imports the tables of its subject alone, so that a command about people defines no others.

Statements that every release needs are built once: building one takes longer than running it, and a
release holds the database's one write lock meanwhile.  Whole rows are loaded, since only these are
authenticated (``row_authentication``).
"""
