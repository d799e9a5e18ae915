"""Plan moments and regressions.

* ``grid``      the columns on one grid of integers, and what is planned of the aggregate
* ``products``  how far one privacy unit moves the sums, and the sums of products
* ``weights``   the weights of these numbers, by which they share one sensitivity
"""
