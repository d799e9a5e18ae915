"""Register datasets, correct their declarations, and relate datasets of the same people.

* ``datasets``                  a declared source, its key, and the budget of each tier
* ``data_folder``               the folder in which the files of datasets must be
* ``fingerprints``              the sealed fingerprint of a file, and its salt
* ``declarations, corrections``: a version's declaration, and its correction or withdrawal
* ``seen_accounts``             a dataset with its tiers' accounts, read once and seen again
* ``population, look_alikes``   datasets declared, or suspected, to hold the same people
* ``file_columns``              what a dataset may come from: a file's columns, and connections
* ``dummy_rows``                made-up rows to try code on
* ``allowances``                what analysts of a tier may register by themselves
* ``logged_datasets``           the leaves of datasets, and the tables compared with them
"""
