"""Draw synthetic rows from the tables that a reader was released.

Rows are made from a release alone and cost no budget: whoever holds the release could make them.

* ``model``     the fitted model and its rows, in a process of its own
* ``apart``     that process: started for one answer, bounded, and ended
* ``rows``      the tables of a release, and the rows as a reader has them
"""
