"""Let analysts request queries, and admins decide about them.

* ``rows``             what is stored of a request, and who may see which part
* ``views``            requests as their readers see them
* ``states``           the requests in one state, in SQL
* ``asking``           requests made, repeated and withdrawn
* ``comments``         comments of both sides
* ``decisions``        requests approved, in the transaction that charges, or declined
* ``settled``          requests whose statistic was registered meanwhile: nothing is left to decide
* ``news``             what waits for admins, and what was decided for analysts
* ``limits``           how much one person may request
* ``logged_requests``  the leaves of requests, and the tables compared with them
"""
