"""Count the values of a column in bins, for statistics that are read from such counts.

* ``quantiles``  declares quantiles of a column
* ``edges``      places the edges of bins: of one width, or at powers of two
"""
