"""Hold the noise process of a registered query, as public numbers and as sealed state.

* ``process``                        a query's mechanism, ladder and sensitivity, read from its
                                     row
* ``independent_levels``             queries whose levels are draws of their own
* ``means, intervals``               means read from released pairs, and where intervals end
* ``histogram_settings``             the public keys and thresholds of a sparse histogram
* ``keys``                           the keys of datasets and queries
* ``sealed_state, sealed_histogram``: the encrypted state that releases are drawn from
"""
