"""Test charts of lines."""

import math
import re

import numpy as np

from penstock.experiments.drawing.line_chart import Line, Panel, drawing


def test_names_of_lines_do_not_lie_on_each_other() -> None:
    lines = tuple(Line(f"line {n}", ((1.0, 1.0), (2.0, 1.0 + n / 1e6))) for n in range(5))
    text = drawing("A", "b", "c", [Panel("p", "x", "y", lines)])
    heights = sorted(float(y) for y in re.findall(r'class="end" x="[\d.]+" y="([\d.]+)"', text))
    assert len(heights) == 5
    assert min(np.diff(heights)) >= 15.9
    assert not math.isnan(heights[0])
