"""Register datasets, correct what they declare, and say whose people they hold.

* ``datasets``                  a declared source, its key, and the budget of each tier
* ``data_folder``               where the files of datasets may lie
* ``fingerprints``              the sealed fingerprint of a file, and its salt
* ``declarations, corrections``: what a version declares, and how that is corrected or withdrawn
* ``population, look_alikes``   datasets declared, or suspected, to hold the same people
* ``file_columns``              the columns that a file declares, before it is registered
* ``dummy_rows``                made-up rows to try code on
* ``logged_datasets``           the leaves of datasets, and the tables held to them
"""
