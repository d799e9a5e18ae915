"""Show auditors and admins what holds the server to account.

* ``log, proofs``      the log in words, and whether it can be believed
* ``coalitions``       what any set of people knows together
* ``keys, shredding``  which key keeps which dataset, and destroying one
* ``restore``          going on after a database was put back
"""
