"""Keep a home: make it, open it, back it up, rotate its keys.

* ``home, status``                               making and opening a server's folder, and how it
                                                 fares
* ``backup, backup_check``                       copies of the database, and whether today's keys
                                                 open one
* ``key_rotation, key_status, retired_keys``     the provider's keys: rotated, looked at, dropped,
                                                 destroyed
* ``secret_checks, secret_rotation, digest_rotation``: the secrets of tokens, rows, values and
  files
"""
