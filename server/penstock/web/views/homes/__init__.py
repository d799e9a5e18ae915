"""Show what concerns a caller most, on one page.

* ``home``  the page at which everybody arrives, by role
"""
