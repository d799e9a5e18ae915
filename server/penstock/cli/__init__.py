"""Provide the operator's command line, which acts on this machine's home through the services.

* ``program``     runs commands, and turns errors into messages and exit codes
* ``operator``    gives commands their settings, server and output
* ``options``     declares options and types that commands share
* ``specs``       builds requests from options, files and standard input
* ``drafts``      writes files to start from: ``dataset example``, ``query example``
* ``wordings``    prints and reads titles and other texts for readers
* ``output``      writes a table for people, JSON or CSV for programs
* ``home``        ``init``, ``status``, ``config``, ``db``, ``serve``, ``keys``, ``backup``,
  ``audit``, ``webhook``, ``demo``
* ``people``      ``tier``, ``user``, ``token``, ``proposal``
* ``data``        ``dataset``, ``connection``
* ``statistics``  ``query``, ``stream``, ``release``, ``request``, ``figures``

Nothing slow is imported before a command needs it: ``penstock --help`` imports only click and
the standard library.
"""

from penstock.cli.program import main

__all__ = ["main"]
