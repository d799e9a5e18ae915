"""Release the marginal tables of sets of columns that agree with each other to the last digit.

* ``lattice``  which tables are protected, with which weights, and how far a unit moves them
* ``tables``   from rows to the protected tables, and from noisy ones to the marginals
* ``reports``  tables without negative or broken numbers, computed when they are read
"""
