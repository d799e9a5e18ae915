"""Run the commands on datasets.

* ``datasets``   ``penstock dataset``
* ``schedules``  ``penstock schedule``
* ``imports``    ``penstock dataset import``: metadata of SmartNoise SQL or lomas
* ``checks``     ``penstock dataset check``
* ``connections``  ``penstock connection``
* ``allowances``  ``penstock dataset allowance``: what analysts may register by themselves
* ``documents``  tables of datasets and their budgets
"""
