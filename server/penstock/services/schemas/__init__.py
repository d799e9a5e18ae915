"""Describe what callers send and what they are answered; field names are part of the public API.

* ``queries``                                    queries, tiers, users, tokens and datasets, as
                                                 they are sent
* ``levels``                                     how a caller names a noise level
* ``histograms, histogram_answers``              sparse histograms, as sent and as answered
* ``streams, stream_answers``                    streams, as sent and as answered
* ``datasets``                                   changes of a dataset: budgets, declarations
* ``log``                                        what is sent about the log
* ``views``                                      what is answered about everything else
* ``tokens, proposals, exposure``                answers of these subjects
* ``previews, stream_previews, release_preview``: what previews are answered with
"""
