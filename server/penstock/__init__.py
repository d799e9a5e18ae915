"""Penstock: a privacy-budget server with tiered multiple release.

Every statistic is released through one noise process, so that a coalition of readers
learns exactly what its best-informed member knows.  The map, from the bottom up:

* ``privacy``      the words: sensitivity, guarantee, level, target (standard library only)
* ``randomness``   cryptographic bits and the exact samplers on them
* ``mechanisms``   one noise law a folder: increment, bridge, guarantee
* ``sentences``    what a query, a stream or a dataset is, in one generated sentence
* ``structures``   many answers at once, built from mechanisms
* ``accounting``   what a release costs: charges, calibration, reports
* ``encryption``   envelopes, key ring, key providers
* ``persistence``  tables, transactions, migrations
* ``openid``       users signed in by an OpenID provider
* ``computing``    long computations in processes of their own, which know no secret
* ``connectors``   from a spec to an exact integer vector with a derived sensitivity
* ``transparency_log``  the audit log: leaves, Merkle tree, checkpoints, witness
* ``services``     use cases, in rooms by subject, one transaction each
* ``http``         what the API and the pages share
* ``api``, ``web``  JSON over HTTP, and the pages for people
* ``tracing``      traces of requests and jobs, by an extra
* ``cli``          the operator's command line
* ``application``  everything together as a WSGI application
* ``experiments``  the papers' figures, drawn anew
* ``demo``         the demo's data and its story
* ``errors``       the one tree of errors
* ``settings``, ``setting_sources``  settings and their bounds, and where they are read from
* ``setting_sign_on``  the settings of sign-in through a provider
* ``setting_connections``  the credentials that the operator names
* ``setting_checks``  settings that cannot work, or exclude each other
* ``spec_fields``  the kinds of field that specs are made of, strict pydantic models
* ``examples``     files that run as they stand: data, a dataset, a query
* ``nesting``      how deep JSON and TOML nest, counted before they are read
* ``figures``      numbers, texts and times as people read them, for pages and command line

The first five know neither Flask nor SQL and can be embedded as a library.
"""

__version__ = "0.1.0"
