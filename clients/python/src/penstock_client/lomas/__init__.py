"""Run notebooks that were written for lomas, with a changed import.

- ``names``: lomas's names for methods of ``penstock_client.Client``.
"""
