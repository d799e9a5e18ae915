"""Draw Laplace noise and compute its privacy.

* ``process``           Laplace noise on the lattice: a process that moves by rare jumps
* ``pure``              the same noise where only its pure epsilon is proved
* ``law``               the discrete Laplace law: how it splits, and what a shift of it costs
* ``laplace_readings``  approximate privacy in closed form, from the l2 sensitivity
"""
