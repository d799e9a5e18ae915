"""Many answers at once, built from mechanisms: none yet.

Factorizations, trees over streams, correlated noise and sparse histograms belong here.
"""
