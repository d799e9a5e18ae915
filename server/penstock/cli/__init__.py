"""Offer the operator's command line: it acts on this machine's own home, through the services.

* ``program``     the commands together, and the edge where errors become exit codes
* ``operator``    who runs a command: settings, server, and the form that output takes
* ``options``     options as every command declares them
* ``specs``       what the services are asked for, from options, files and standard input
* ``output``      a table for people, JSON or CSV for programs
* ``home``        ``init``, ``status``, ``config``, ``db``, ``serve``, ``keys``, ``backup``,
  ``audit``, ``demo``
* ``people``      ``tier``, ``user``, ``token``, ``proposal``
* ``data``        ``dataset``
* ``statistics``  ``query``, ``stream``, ``release``

Nothing slow is imported before a command needs it: ``penstock --help`` knows click and
the standard library alone.
"""

from penstock.cli.program import main

__all__ = ["main"]
