"""Read conditions that are joined, and columns that are computed from others.

* ``conditions``       what is sent as a condition: comparisons, joined by any, all and not
* ``expressions``      what is sent as a derived column: integers, texts, arithmetic and cases
* ``sizes``            how much expressions say, wherever a query names them
* ``formula``          columns and conditions as plans have them, in one normal form
* ``normal_form``      from conditions as they were sent to that form
* ``arithmetic``       expressions in one normal form, with the bounds of every value
* ``derived_columns``  a dataset with a query's derived columns among its own
* ``value_sets``       the sets of values for which comparisons of one column hold
* ``simplest``         conditions and columns that say the same as one
* ``simplest_plan``    the plan that stands for all plans of one statistic, for its hash
"""
