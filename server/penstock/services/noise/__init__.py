"""Hold the noise of a registered query, as public numbers and as sealed state.

* ``process``                        a query's mechanism, ladder and sensitivity
* ``kinds``                          what is drawn, opened, shown and charged, by kind of query
* ``level_rule``                     what differs between levels of one path and separate draws
* ``lossless_levels``                levels that are points of one path
* ``independent_levels``             levels that are draws of their own
* ``means, intervals``               means read from released pairs, and where intervals end
* ``histogram_settings``             the public keys and thresholds of a sparse histogram
* ``keys``                           the keys of datasets and queries
* ``sealing, sealed_state``          rows sealed for their place, and releases among them
* ``sealed_histogram``               the encrypted state of a sparse histogram
* ``answer_fingerprints``:           exact answers, recognized again without being kept
"""
