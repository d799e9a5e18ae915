"""Operate a home: create it, open it, back it up, rotate its keys.

* ``home, status``                               creating and opening a server's folder, and its
                                                 state
* ``backup, backup_check``                       copies of the database, and the check that today's
                                                 keys open one
* ``chunk_copies``                               the chunks of long vectors beside a backup
* ``key_rotation, key_status, retired_keys``     the provider's keys: rotated, listed, dropped,
                                                 destroyed
* ``secret_checks``                              the check for the right secrets
* ``secret_renewal, secret_rotation, digest_rotation``: new secrets of tokens, rows, values and
  files
"""
