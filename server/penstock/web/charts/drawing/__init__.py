"""Provide the parts that every chart is made of.

* ``values``         the content that charts take, and the tables that they return
* ``svg``            SVG elements, with all texts escaped
* ``axes, numbers``  the position of a number, and its digits
* ``calendar``       days on an axis
* ``lettering``      the width of a text
* ``marks``          styles of levels: a color, and also a shape or dashes
* ``messages``       the sentence that a chart shows, made from its numbers
* ``files``          a chart that stands alone, to download
* ``tables``         tables of one interval per key and level
"""
