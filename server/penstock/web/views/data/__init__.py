"""Let admins register and change datasets, queries and streams, and analysts compose questions.

* ``new_dataset, new_version, declarations``  datasets
* ``new_query, new_stream``                   queries and streams, previewed and then registered;
                                              analysts request in the same form
* ``schedules, new_schedule``                 new versions and queries by a timetable
* ``levels, retiring``                        changing levels, retiring queries and streams
* ``raising_budgets, allowances``             budgets, and what analysts may register by themselves
* ``same_people``                             datasets that hold the same people
"""
