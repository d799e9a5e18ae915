"""Say how far off the values of a release may be.

* ``interval``      intervals at other confidences than the one that the server stated
* ``value_errors``  error bars value by value
* ``histogram``     what a sparse histogram tells beside the keys that stand out
"""
