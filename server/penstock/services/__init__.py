"""What the server does: one use case a file, one transaction each.

* ``server``         what every use case is given: database, keys, clock, entropy
* ``principals``     who is acting: ``authenticate``, ``OPERATOR``
* ``specs, level_specs, views, token_views, preview_views, exposure_views``
                     what callers send, and what they are answered
* ``tiers, users, tokens, datasets, budget, queries, history, events, exposure``
                     the use cases that carry these names
* ``token_lineage``  which token was made with which, and ends with it
* ``compositions``   what releases of one dataset come to together, and where that is worked out
* ``coalitions``     query by query, who of some people stands where
* ``refusals``       how many requests were refused, as the log tells it
* ``proof_status``   what the log stands on now, and proofs held to signed roots
* ``offers``         what a query would be and cost, before anything is charged
* ``computations, stream_quotes``
                     the long ones of these, as pure functions of public numbers
* ``computing, pooled, computing_jobs, wire``
                     where they are done: here, or in a process of their own that knows no secret
* ``histogram_remedies, refused_histograms``
                     what would fit of a sparse histogram that the budgets do not allow
* ``preview``        the same for whoever asks first; nothing is done
* ``registration``   settle, charge, commit; then read the data once, for the anchor
* ``levels``         the same for levels that are raised; lower ones act on the future
* ``exact``          exact answers, and how to know them again without keeping them
* ``mismatches``     exact values that are sent again: seldom compared, and on record
* ``effective``      what every tier pays for: the most accurate level it could ever be given
* ``repricing``      what queries cost more where a budget becomes larger than it ever was
* ``budget_plans``   what other budgets would mean, before they are granted
* ``prices, undercharged``
                     the ledger held to a price from nothing, and what older versions left
* ``independent``    queries whose levels are draws of their own, and add up
* ``power_advice``   which power of generalized Gaussian noise to take
* ``allowances``     what every tier is allowed from now on
* ``funding``        whose budget a tier has
* ``two_persons, proposals, proposed``
                     what takes two people where the two-person rule is in force
* ``clearances``     who holds which tier, and what another one for somebody would mean
* ``corrections, declarations``
                     what a dataset is declared as: corrected, or withdrawn with it
* ``population, same_people``
                     datasets that were declared to hold the same people
* ``look_alikes``    datasets that may hold the same people, by what they declare
* ``category_checks``  what share of rows no category takes, as a query
* ``dataset_secrets``  the fingerprint of a dataset's file, and its salt
* ``data_folder``    where the files of datasets may lie
* ``drafts``         the columns that a file declares, before it is registered
* ``acts``           the leaves of what admins do, with what they had read
* ``releases``       the release transaction
* ``accounts``       the ledger in the database
* ``log``            leaves of the audit log
* ``cosigners``      who signs the log's checkpoints beside the server
* ``forwarding, log_sinks, log_streams``
                     a second place that takes the log before anybody is answered
* ``logged_time, clocks``
                     the server's time, never before the log's, and what to do where that was wrong
* ``state``          the encrypted state of a noise process
* ``keys, retired_keys, key_status``
                     the provider's keys: rotated, dropped, destroyed, looked at
* ``peppers, secret_rotation, digest_rotation``
                     what tokens, files, rows and leaves are digested under, and its rotation
* ``backup, backup_check``
                     copies of the database, and whether today's keys open one
* ``home``           making and opening a server's folder

Only services open transactions.  Randomness, time and keys come with the server.
"""
