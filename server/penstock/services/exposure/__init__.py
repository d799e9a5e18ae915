"""Compute what users know together.

* ``exposure``     what a set of users knows, and what it would have cost without tiers
* ``by_query``     the releases that some users hold of each query, and their loss
* ``by_tier``      bounds of what all holders of each tier could learn of each dataset
* ``compositions``: the loss of releases of one dataset, or of the same people
* ``same_people``  datasets that an admin declared to hold the same people
"""
