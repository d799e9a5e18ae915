"""Build the documentation's site, which the server serves at ``/docs``.

* ``building``    runs MkDocs over the sources; also a program
* ``build_hook``  builds the site into wheels and checkouts, called by hatchling
* ``site_hooks``  what MkDocs calls: generated pages, pictures, accessible tables
* ``reference``   pages that are generated from the code
"""
