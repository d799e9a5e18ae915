"""Draw: what every chart is made of.

* ``values``         what charts are given, and the tables that they give back
* ``svg``            elements of SVG, and texts that no name can break out of
* ``axes, numbers``  where a number lies, and how it is written
* ``lettering``      how much room a text takes
* ``marks``          how levels are told apart: by color, and by shape or dashes as well
* ``tables``         tables beside charts that show one interval a key and level
"""
