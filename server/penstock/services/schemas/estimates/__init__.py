"""Describe what is estimated from releases, beside their values.

* ``covariance`` the covariance of values whose noise is not independent
* ``marginals``  the tables of marginals, and the forms in which they are reported
* ``quantiles``  how releases of quantiles are read, and distribution functions
"""
