"""Gather what ``/home``, ``/budgets`` and ``/catalogue`` show.  Each list has a largest length.

* ``own_data``      what analysts may ask, and what they received last
* ``duties``        what waits for admins, and how old backups and keys are
* ``log_news``      what is new in the log, for auditors
* ``worst_cases``   what everybody together could learn of a dataset
* ``spent_shares``  the datasets of which most is spent
* ``burn_downs``    what was left of budgets over time
* ``catalogue_parts``  the datasets and streams that match a choice of the catalogue
"""
