"""Draw synthetic rows from the marginals of a release.

* ``model``     the fitted model and its rows, in a process of its own
"""
