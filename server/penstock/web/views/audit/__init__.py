"""Show auditors and admins the audit log, exposure, keys and restores.

* ``log, proofs``      the audit log in words, and its proofs
* ``coalitions``       joint exposure of any set of people
* ``reports``          a signed page about a dataset and a period
* ``keys, shredding``  which key wraps which dataset, and destroying one
* ``restore``          continuing after a restore
"""
