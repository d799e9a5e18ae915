"""Hold the noise of a registered query, as public numbers and as sealed state.

* ``process``                        a query's mechanism, ladder and sensitivity
* ``kinds``                          the rules of each kind of query for drawing, showing and
                                     charging
* ``level_rule``                     the interface of levels on one path and of separate draws
* ``lossless_levels``                levels that are points of one path
* ``independent_levels``             levels that are independent draws
* ``means, intervals``               means from released pairs, and the ends of intervals
* ``estimates``                      moments, regressions and quantiles from released sums
* ``derived``                          totals, differences, shares and ratios of released values
* ``histogram_settings``             the public keys and thresholds of a sparse histogram
* ``keys``                           the keys of datasets and queries
* ``sealing, sealed_state``          rows sealed for their place, and releases among them
* ``sealed_histogram``               the encrypted state of a sparse histogram
* ``long_vectors``                   vectors that are too long for a row, in chunks
* ``answer_fingerprints``:           exact answers, recognized again without being kept
"""
