"""Read conditions that are joined.

* ``conditions``   what is sent as a condition: comparisons, joined by any, all and not
* ``formula``      columns and conditions as plans have them, in one normal form
* ``normal_form``  from what was sent to that form
"""
