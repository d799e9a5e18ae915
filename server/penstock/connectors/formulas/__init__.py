"""Read conditions that are joined, and columns that are computed from others.

* ``conditions``       what is sent as a condition: comparisons, joined by any, all and not
* ``expressions``      what is sent as a derived column: integers, texts, arithmetic and cases
* ``sizes``            how much expressions say, wherever a query names them
* ``formula``          columns and conditions as plans have them, in one normal form
* ``normal_form``      from conditions as they were sent to that form
* ``arithmetic``       expressions in one normal form, with the bounds of every value
* ``derived_columns``  a dataset with a query's derived columns among its own
"""
