"""Read forms: from what was typed to what a service is asked for.

* ``form_input``                                 what was typed, and what is wrong with it, field
                                                 by field
* ``query_kinds, query_form, stream_form, privacy_terms``: queries and streams
* ``dataset_form, token_form``                   datasets and tokens
* ``choices``                                    what the forms offer, each with a sentence that
                                                 explains it
* ``log_filters``                                filters of the log and of the history
* ``confirmation``                               the name that is typed by hand before something
                                                 is destroyed
"""
