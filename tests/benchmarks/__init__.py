"""Define how fast the product is, as ratios within one run; nothing here is a timed test.

* ``figures``     a measured figure, its goal, and the table that is printed
* ``pairing``     tasks that take turns, so that a busy machine slows all of them alike
* ``peers``       numpy's and OpenDP's noise, to compare with
* ``mechanisms``  noise processes against the peers
* ``world``       a home with people and queries, made through the services
* ``release``     a large release against its noise and encryption alone
* ``levels``      a query with many stored levels against one with few
* ``crowd``       a file of many rows, of people with few and with thousands
* ``registration``  a group-by over that file against plain SQL
* ``ledger``      registering where many queries are against where few are
* ``accountant``  the tight figure of many queries against dp-accounting's own
* ``figure2``     variance against the number of releases, on one path and independent
* ``figure2_drawing``  that as an SVG
* ``utilities``   the noise of all mechanisms at equal guarantees
* ``trees``       errors of running sums, tree by tree, and where Gaussian noise is better
* ``correlated``  the errors of many counts over one population
* ``line_chart``  both as SVGs
* ``streams``     steps of trees, flat in the length and against the square root
* ``buffers``     the error, state and steps of buffers, against the square root
* ``serving``     ``penstock serve`` in a process of its own
* ``readers``     clients in processes of their own
* ``received``    everything that clients were answered, compared
* ``over_http``   releases and repeats over HTTP, in turns with hello-world
* ``contest``     hello-world and checkouts, piece by piece of each row
* ``hello``       a Flask application that does nothing, under the product's gunicorn settings
* ``populated``   homes of any checkout, filled through its command line and API
* ``sides``       what is asked of each, and checks of the answers
* ``processor``   the processor time of a server's processes
* ``statements``  statements counted apart, in SQLite by a hook (``sitecustomize``)
* ``rows``        rows, goals and the table in Markdown

Run ``python -m tests.benchmarks`` from the root.  Values are checked and a wrong one ends
the run; a figure that misses its goal is printed and ends nothing.
"""

import os

# As in the server's processes, and before numpy is imported: more threads would only wait.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
