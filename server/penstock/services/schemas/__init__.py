"""Describe what callers send and receive; field names are part of the public API.

* ``queries``            queries, releases and datasets, as they are sent
* ``levels``             how a caller names a noise level
* ``histograms``         sparse histograms, as sent and as answered
* ``streams``            streams and their totals, as sent and as answered
* ``datasets``           changes of a dataset: budgets, declarations
* ``schedules``          schedules, as sent and as answered
* ``requests``           requests for queries, as sent and as answered
* ``log``                what is sent about the log
* ``estimates``          what is estimated from releases, as answered
* ``views``              what is answered about everything else
* ``people``             tiers, users and tokens, as sent and as answered
* ``wordings``           titles and other texts for readers, as sent and as answered
* ``proposals``, ``exposure``              answers of these subjects
* ``previews``, ``stream_previews``        what previews are answered with, and what is tried
                                         on made-up rows
"""
