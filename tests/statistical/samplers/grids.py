"""Provide powers and scales at which generalized Gaussian draws are checked."""

STEPS = {"1": 630_000, "1.25": 210_000, "2.5": 350_000, "4": 600_000, "16": 430_000}
"""Values at 64 steps, by ``sample_sizes``: another power needs 621,000, 591,000 and 420,000 at
powers 1, 4 and 16; cut off sizes 246,000 and less; two percent of the scale at powers 2.5, 4 and
16 346,000 and less, and at 1 and 1.25 so many that they are drawn every night alone."""


SIZES = {"1": 1 << 17, "1.25": 1 << 17, "2.5": 600_000, "4": 390_000, "16": 1 << 17}
"""Values at 2^40 steps: two percent of the scale needs 591,000, 381,000 and 118,000 at powers 2.5,
4 and 16, and at 1 and 1.25 again as many as are drawn every night."""
