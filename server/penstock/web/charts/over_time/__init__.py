"""Draw streams in several panels.

* ``two_panels``  the value of each step, and the running totals below it
"""
