"""Handle requests for pages: declarations, sessions, forms, errors and static files.

* ``routes``            declarations of pages: verb, path, policy, view
* ``blueprint``         the Flask blueprint: checks session, role and form key, sets headers
* ``request_context``   one request for a page, as the views see it
* ``proposals``         actions under the two-person rule
* ``csrf``              protection against forms from other sites, and the session's cookie
* ``idempotent_forms``  actions of forms: done once, answered by a redirect or by the form
* ``kept_forms``        forms as they were filled in, at addresses of their own, for going back
* ``page_jobs``         background jobs that forms start
* ``error_pages``       problem documents as pages
* ``uploading``         forms with a file of data, read piece by piece
* ``documentation``     the site at ``/docs``
* ``client_wheel``      the Python client at ``/clients/``, for pip
* ``static_files``      stylesheets, scripts and pictures, all from this server
"""
