"""Show results as tables, in notebooks, and as data frames.

* ``documents, stream_documents``  turn what each command prints into columns and rows
* ``row_documents``                do so for made-up rows, and for marginals in reported forms
* ``output``                       writes a table for people, JSON or CSV for programs
* ``rounding``                     formats numbers and texts for people
* ``notebook, svg``                show a release in a notebook, with a chart
* ``shown``                        states what the other modules need of a release or of totals
* ``settings``                     the options of all commands
* ``release_commands``             the commands ``penstock-client release`` and ``synthetic``
* ``audit_command``                the commands ``penstock-client audit``
* ``frames``                       converts releases, totals and made-up rows to pandas, polars
                                   and Arrow
"""
