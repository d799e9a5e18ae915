"""Run frequent statements without what SQLAlchemy does for every execution.

* ``prepared``       statements that are compiled once, and run on the driver's connection
* ``verified_rows``  rows whose HMACs matched, which are not checked again while they are the same
"""
