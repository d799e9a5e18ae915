"""The operator's command line: it acts on this machine's own home, through the services.

* ``program``   the commands together, and the edge where errors become exit codes
* ``operator``  who runs a command: settings, server, and the form that output takes
* ``options``   options as every command declares them
* ``output``    a table for people, JSON or CSV for programs
* ``specs``     what the services are asked for, from options, files and standard input
* ``budget_plans``  what other budgets, and people that datasets share, would mean: as tables
* ``drafts``    files to begin with
* ``checks``    what share of rows no category takes
* ``serving``   handing over to gunicorn, as ``launch`` starts it
* ``home``, ``users``, ``tokens``, ``tiers``, ``datasets``, ``queries``, ``releases``,
  ``audit``, ``demo``  the commands, and what each prints

Nothing slow is imported before a command needs it: ``penstock --help`` knows click and
the standard library alone.
"""

from penstock.cli.program import main

__all__ = ["main"]
