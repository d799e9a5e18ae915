"""Pictures of releases, budgets and tiers: plain numbers in, one SVG element's text out.

Every chart is a pure function ``chart(content, prefix, width)`` and has a ``rows(content)``
beside it with the same numbers as a table.  They know no request, no database, no service.

* ``drawing``    axes, numbers, marks, SVG and tables, of which charts are made
* ``lines``      a name, a bar with its interval, a value: what several charts are made of
* ``intervals``  groups, their values and intervals, at one or several levels
* ``ranked``     the keys of a sparse histogram by value
* ``band``       a stream's totals over its steps
* ``ladder``     tiers and who holds them
* ``stacked``    what each tier's budget was spent on
* ``losses``     one loss beside another
* ``compared``   several losses, the one that counts first
* ``path``       one query's noise process and who stands where on it
* ``story``      what tiers and lossless releases are, in one picture

Colors are classes that ``static/charts.css`` defines for light and dark pages; where it does
not reach (a mail, a notebook), presentation attributes that are readable on both serve.
"""
