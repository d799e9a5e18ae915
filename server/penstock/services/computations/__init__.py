"""Work long questions out of public numbers, in processes that know no secret.

* ``computations``                               the functions that may be asked for
* ``results, wire``                              what they come to, and how that crosses between
                                                 processes
* ``pooled, job_kinds``                          where they run, and what a process knows
* ``stream_structure, stream_quotes``            a stream's structure and its price
* ``histogram_remedies``                         what would fit of a sparse histogram that budgets
                                                 do not allow
* ``power_advice``:                              which power of generalized Gaussian noise to take
"""
