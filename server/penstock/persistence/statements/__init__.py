"""Run frequent statements without what SQLAlchemy does for every execution.

* ``prepared``  statements that are compiled once, and run on the driver's connection
"""
