"""Read a subset of SQL as specs, and write specs as SQL; nothing here is run on data.

* ``places``        where in the text something stands
* ``limits``        tokens, within limits of length, number and depth
* ``synonyms``      one spelling of what has several
* ``grammar``       the statement's parts, of which all that is not listed is refused
* ``names``         columns and constants
* ``conditions``    ``WHERE``
* ``derivations``   arithmetic and ``CASE``, as derived columns
* ``groupings``     ``GROUP BY``: categories and bins
* ``marginals``     several sets of groupings, as marginals
* ``aggregates``    each aggregate by itself
* ``statistics``    all of them as one statistic
* ``reading``       the fields of a spec that a statement says
* ``writing``       the statement of a spec
"""
