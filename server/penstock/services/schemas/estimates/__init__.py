"""Describe what is estimated from releases, beside their values.

* ``quantiles``  how releases of quantiles are read, and distribution functions
"""
