"""Read forms: turn what was typed into the specs that services take.

* ``form_input``                                 what was typed, and the errors of each field
* ``query_kinds, query_form, stream_form, privacy_terms``: queries and streams
* ``dataset_form``, ``data_dictionary``           datasets, and dictionaries of their columns
* ``schedule_form``                              schedules; their queries are JSON
* ``people``                                     tokens, and decisions on requests
* ``derived_form``                               what is computed from the values of a release
* ``choices``                                    the options in forms, each with a sentence that
                                                 explains it
* ``log_filters``                                filters of the audit log and of the history
* ``confirmation``                               the name that the user types to confirm a
                                                 destructive action
"""
