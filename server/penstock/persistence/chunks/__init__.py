"""Keep the chunks of long vectors, which are no rows: sealed bytes, under names that never repeat.

* ``store``    the protocol of a place for chunks
* ``choice``   the place that a setting names
* ``folder``   a folder, by default in the home
* ``direct``   files written and read past the system's cache
* ``bucket``   an object store, through ``obstore``

A chunk is written once, by the *attempt* that drew it, and never replaced.  What is in it, and
whether it may be read, is decided by the database alone (``services.noise.long_vectors``).
"""
