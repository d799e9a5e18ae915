"""Commands on queries, streams and releases.

* ``queries, streams, releases``      the commands ``query``, ``stream`` and ``release``
* ``stream_preview, budget_preview``  previews, as tables
* ``specs``                           what the services are asked for, from options, files and
                                      standard input
"""
