"""Run the commands on queries, streams and releases.

* ``queries, streams, releases``      the commands ``query``, ``stream`` and ``release``
* ``requests``                        the command ``request``
* ``sql_options``                     a query in SQL, by options
* ``paper_figures``                   the command ``figures``
* ``stream_preview, budget_preview``  tables of previews
"""
