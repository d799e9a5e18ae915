"""Draw releases, budgets and tiers: plain numbers in, the text of one SVG element out.

Every chart is a pure function ``chart(content, prefix, width)``, and its module also has
``rows(content)``, which returns the same numbers as a table.  No chart reads a request, the
database or a service.

* ``drawing``       the parts of charts: axes, numbers, marks, SVG and tables
* ``results``       the chart and the sentence of a release or of a stream
* ``spent``         what was left of budgets over time
* ``lines``         a name, a dot with its interval and a value: the part that several charts share
* ``crossed``       values of groups that two keys name: lines over one of them, or panels
* ``intervals``     values of groups with their intervals, at one or several levels
* ``ranked``        the keys of a sparse histogram by value
* ``band``          a stream's numbers over its steps
* ``over_time``     a stream's values over its steps, and its totals below
* ``distribution``  a distribution function with its band, and quantiles on it
* ``ladder``        tiers and the users who hold them
* ``stacked``       the queries that each tier's budget was spent on
* ``losses``        privacy losses as bars, one below another
* ``compared``      several privacy losses, the one that counts first
* ``path``          one query's noise process, with each user's release on it
* ``story``         tiers and lossless releases explained in one picture

The client draws with these files, too: ``penstock_client/_show/charts`` is a link to this folder,
and its wheel has a copy.  So they import nothing but the standard library, each other by relative
names, and ``errors.NotDrawable`` and ``figures``, which both packages have.

Colors are classes that ``static/charts.css`` defines for light and dark pages.  If the stylesheet
is missing (a mail, a notebook), presentation attributes give colors that are readable on both.
"""
