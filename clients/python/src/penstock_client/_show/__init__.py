"""Show results as tables, in notebooks, and as data frames.

* ``documents, stream_documents``  turn what each command prints into columns and rows
* ``row_documents``                do so for made-up rows, and for marginals in reported forms
* ``listing``                      a list of answers, as a table in a notebook or a data frame
* ``output``                       writes a table for people, JSON or CSV for programs
* ``rounding``                     formats numbers and texts for people
* ``notebook``                     shows a release in a notebook, with its figure
* ``figures``                      draws releases and totals as the server's pages do
* ``charts``                       is the folder that the server draws with, and no copy of it
* ``shown``                        states what the other modules need of a release or of totals
* ``frames``                       converts releases, totals and made-up rows to pandas, polars
                                   and Arrow
"""
