"""Write what auditors file: who was given what of a dataset in a period, signed.

* ``log_checks``      what is proven of the log, in the transaction of the report
* ``report_facts``    the facts of a dataset and a period
* ``signed_reports``  the facts with the signature of the log's key
"""
