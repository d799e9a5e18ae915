"""Run the commands of ``penstock-client`` that have a module of their own.

* ``settings``          the options of all commands
* ``release_commands``  the commands ``penstock-client release`` and ``synthetic``
* ``audit_command``     the commands ``penstock-client audit``
* ``completion``        the command ``penstock-client completion``
"""
