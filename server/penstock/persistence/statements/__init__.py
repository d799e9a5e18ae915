"""Run frequent statements without what SQLAlchemy does for every execution, and sign their rows.

* ``prepared``       statements that are compiled once, and run on the driver's connection
* ``glances``        single statements that read, on connections that stay out of the pool
* ``verified_rows``  rows whose HMACs matched, which are not checked again while they are the same
* ``encoders``       the bytes of a column's value that its row's HMAC covers
* ``fixed_rows``     rows of which one column changes, signed without the others
* ``entities``       rows without what their constructors do for every column
"""
