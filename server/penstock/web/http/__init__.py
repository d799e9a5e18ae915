"""Serve pages: from a declared page to an answer.

* ``routes``            how a page is declared: verb, address, policy, view
* ``blueprint``         from declared pages to Flask: session, role, form key, headers
* ``request_context``   one request for a page, as the views see it
* ``proposals``         acts that may take two people
* ``csrf``              which browser may send a form, and the cookie of a session
* ``idempotent_forms``  acts of forms: done once, answered by a redirect or by the form again
* ``page_jobs``         long work that a form asks for
* ``error_pages``       problems as pages
* ``static_files``      stylesheets and scripts, all from this server
"""
