"""Write specs as SQL that is read as the same statistic.

* ``statement``   the statement of a spec, of these parts:
* ``cells``       columns and constants
* ``conditions``  the entries of ``where``
* ``derivations``  derived columns
* ``statistics``  the aggregate
* ``marginals``   the sets of several tables, and the keys of their columns
"""
