"""Provide the parts of HTTP that the API and the pages share; they do not import each other.

* ``edge``             the outermost layer: request ids, headers, the one wide except
* ``access_log``       one line for each request, without its content
* ``mount``            serving below a path of the host
* ``bearer``           the token of a request
* ``answers``, ``problems``  answers and refusals as JSON
* ``tabular_formats``  a release as CSV, Arrow or Parquet
* ``reports``          an auditor's report as a page of HTML or PDF
* ``event_tables``     the audit log as CSV
* ``cursors``          positions in lists, sealed
* ``pacing``           answers whose timing must not distinguish them
* ``counting``         counts shared by all workers: rate limits, metrics, refusals
* ``intake``           waiting for requests and for slow readers without a thread
"""
