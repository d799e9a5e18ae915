"""Show results: as tables, in notebooks, and as data frames.

* ``documents, stream_documents``  what each command prints, as columns and rows
* ``output``                       a table for people, JSON or CSV for programs
* ``rounding``                     numbers and texts as people read them
* ``notebook, svg``                how a release shows itself in a notebook, with its chart
* ``shown``                        what these need of a release or of totals
* ``audit_command``                ``penstock-client audit``
* ``frames``                       releases, totals and made-up rows as tables of pandas, polars
                                   and Arrow
"""
