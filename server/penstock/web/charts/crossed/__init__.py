"""Draw values of groups that two keys name, such as a plan and a year.

* ``grids``      which group is where, and whether a key has an order of its own
* ``sentences``  what such a chart shows, without a difference that the margins do not support
* ``plots``      axes, a frame and bands: what lines over steps have in common
* ``series``     lines over the ordered key, the largest in color and the others in grey
* ``panels``     one panel for each line, with every level in it
* ``trellis``    one panel of dots with whiskers for each value of a key without an order
* ``heat``       a table in shades, of values or of their margins of error
"""
