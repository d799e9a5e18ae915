"""Run long computations on public numbers, in processes that have no secrets.

* ``computations``                               the functions that may be requested
* ``results, wire``                              their results, and how these are sent between
                                                 processes
* ``pooled, job_kinds``                          where they run, and what a process has
* ``stream_structure, stream_quotes``            a stream's structure and its price
* ``histogram_remedies``                         settings that fit for a sparse histogram that
                                                 budgets do not allow
* ``power_advice``:                              the recommended power of generalized Gaussian noise
"""
