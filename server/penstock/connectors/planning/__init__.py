"""Turn specs into a plan: everything that is known before data are read.

* ``interpret``          what a query means on its dataset: names looked up, defaults filled in
* ``plan``               one statistic in one form, with nothing left to look up
* ``prepare``            from two specs to a prepared query, and then its answer, which reads the
                         data
* ``domain``             the keys of an answer, declared
* ``open_keys``          the keys of a sparse histogram, as ranks
* ``columns``            the columns that a query names, in the dataset's declaration
* ``moments``            moments and regressions: their grid, their weights, their sensitivity
* ``correlated_counts``  which nodes take the place of counts that are protected together
* ``sensitivity``        how far one privacy unit can move an answer
* ``canonical``          one statistic, one hash
* ``alternatives``       the ways in which the same counts may be protected
* ``refusals``           how a spec is refused: by JSON pointer, in plain words
"""
