"""Penstock: a privacy-budget server with tiered multiple release.

Every statistic is released through one noise process, so that a coalition of readers
learns exactly what its best-informed member knows.  The map, from the bottom up:

* ``privacy``      the words: sensitivity, guarantee, tier, level (standard library only)
* ``randomness``   cryptographic bits and the exact samplers on them
* ``mechanisms``   one noise process a file: increment, bridge, guarantee
* ``structures``   many answers at once, built from mechanisms
* ``accounting``   what a release costs: charges, the filter, calibration, exposure
* ``encryption``   envelopes, key ring, key providers
* ``merkle``       the tree over the log, and its proofs
* ``persistence``  tables, transactions, migrations
* ``computing``    long computations in processes of their own, which know no secret
* ``connectors``   from a spec to an exact integer vector with a derived sensitivity
* ``services``     one use case a file, one transaction each
* ``api``, ``web`` JSON over HTTP, and the pages for people
* ``cli``          the operator's command line
* ``demo``         the demo's data and its story
* ``examples``     files that run as they stand: data, a dataset, a query
* ``setting_values`` of which kind settings are, and between which bounds
* ``nesting``      how deep JSON and TOML nest, counted before they are read
* ``figures``      numbers, texts and times as people read them, for pages and command line

The first five know neither Flask nor SQL and can be embedded as a library.
"""

__version__ = "0.1.0"
