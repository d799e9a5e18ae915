"""Send traces of requests and jobs to an OpenTelemetry collector, where one is set.

A span has the name of a route's template, of a step or of a kind of job, and nothing that a caller
sent, a user is called or a row holds.  Where no collector is set nothing of this is in the way of a
request: neither the application nor its database is wrapped.

* ``spans``             what spans may hold, and which of them are recorded
* ``sending``           where they go, and what the log says if they are not taken
* ``traced_requests``   one span for each request, around the whole application
* ``traced_steps``      spans of the steps within: look up, wait for the lock, commit, witness
* ``traced_jobs``       one span for each job of a worker; the application gives those that a
                        server does itself theirs
"""
