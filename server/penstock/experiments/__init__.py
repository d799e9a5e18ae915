"""Draw the figures and tables of the papers anew, from this library: ``penstock figures``.

* ``catalog``        every figure by its name
* ``many_releases``  what many releases cost (Andersson, Retschmeier, Nelson, Pagh 2025)
* ``running_sums``   running sums by trees and the square root (Andersson, Pagh, Steiner,
  Torkamani 2024; Andersson, Pagh 2023)
* ``correlated``     many counts over one population (Lebeda 2024)
* ``corrections``    the worst of many counts answered again (Ganesh, Zhao 2021)
* ``utilities``      the noise of each mechanism at one guarantee
* ``honaker``        a baseline for trees that no query has (Honaker 2015)
* ``draws``          fixed keys, and a check of what is drawn
* ``drawing``        charts and tables

What is drawn follows from the library's structures, calibration and accountant, and from noise of
fixed keys: it is the same on every machine, and no home or database is needed.
"""
