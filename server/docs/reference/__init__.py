"""Generate the reference from the code, as Markdown.

* ``api``                  one page a subject: every operation with an example, and a form to try it
* ``command_line``         every command and option of ``penstock`` and ``penstock-client``
* ``settings_by_subject``  every setting with its default
* ``client``               what the Python client offers, from its docstrings
* ``included``             guides that lie elsewhere in the project
* ``notebooks``            the notebooks of the Python client
* ``markdown``             text and tables, escaped
"""
