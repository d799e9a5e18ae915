"""Hold a small data file, a whole dataset over it and a whole query, which run unchanged."""

CSV = """\
person,year,area,visits
a1,2024,rural,3
a1,2025,rural,1
b2,2025,urban,2
c3,2024,urban,0
c3,2025,urban,5
d4,2024,rural,1
"""

DATASET = """\
{
  "name": "visits",
  "source": {"engine": "duckdb", "uri": "visits.csv"},
  "privacy_unit": {"column": "person"},
  "neighboring": "add_remove",
  "delta": 1e-6,
  "max_units": 1000000,
  "columns": {
    "person": {"type": "string"},
    "year": {"type": "integer", "categories": [2024, 2025]},
    "area": {"type": "string", "categories": ["rural", "urban"]},
    "visits": {"type": "integer", "lower": 0, "upper": 20}
  },
  "budgets": {"public": {"epsilon": 1}, "internal": {"epsilon": 4}}
}
"""

QUERY = """\
{
  "name": "visits_by_area",
  "dataset": "visits",
  "where": [{"column": "year", "op": "=", "value": 2025}],
  "group_by": [{"column": "area"}],
  "aggregate": {"type": "sum", "column": "visits"},
  "contribution": {"max_groups": 1, "max_rows_per_group": 1},
  "mechanism": "gaussian",
  "levels": {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.5}}
}
"""
