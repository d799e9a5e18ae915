"""Copy a database while it is served.

* ``copy``                          a consistent copy in one file
* ``sqlite_copy, postgresql_dump``  how each database makes it
* ``backup_contents``               the keys that a copy needs, read from the file alone
"""
