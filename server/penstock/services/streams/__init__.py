"""Open streams, add their elements, and read running totals.

* ``streams``         opened and charged at once
* ``stream_terms``    what a spec leaves to the server
* ``stream_elements``: elements in order, each added once
* ``fed_elements``    elements that are answers of queries, one of each version
* ``stream_totals``   running totals at a reader's tier
* ``sealed_stream``   the sealed state, outputs and anchors of a stream
"""
