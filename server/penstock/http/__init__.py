"""Serve HTTP: what the API and the pages share, which do not know each other.

* ``edge``             around everything: ids, headers, the one wide except
* ``access_log``       one line for each request, and nothing of what it asked
* ``mount``            the path of its host below which the server is reached
* ``bearer``           the token of a request
* ``answers``, ``problems``  answers and refusals as JSON
* ``tabular_formats``  a release as CSV, Arrow or Parquet
* ``cursors``          where lists go on, sealed
* ``pacing``           what the clock must not tell apart
* ``counting``         what the workers count together: rate limits, metrics, refusals
* ``intake``           how a worker waits for requests and for readers without a thread
"""
