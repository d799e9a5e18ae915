"""Draw charts as self-contained SVG.

* ``line_chart``      panels of lines, each named at its end
* ``strategy_chart``  a panel for each mechanism, lines exact and marks measured
* ``texts``           tables in Markdown, and descriptions
"""
