"""Report what a set of releases amounts to, as tightly as a theorem allows.

* ``report``       the tight epsilon of any set of releases, at the dataset's delta
* ``readings``     one release read as (epsilon, delta) in every way that has a theorem
* ``coordinates``  the losses of one release, coordinate by coordinate, at its worst shift
* ``losses``       privacy-loss distributions of single values, on one grid
* ``composition``  sums of independent losses on that grid
* ``convolution``  masses of two losses together, never below the exact ones
"""
