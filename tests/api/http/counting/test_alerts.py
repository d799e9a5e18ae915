"""Test that alerts and dashboard of ``deploy/monitoring`` name what there really is.

That is what ``/metrics`` and ``penstock metrics`` show.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from tests.api.http.counting.monitoring import TOKEN, read
from tests.api.world import World
from tests.support.places import ROOT

from penstock.services import monitoring
from penstock.services.access.principals import OPERATOR
from penstock.services.jobs import queue

pytestmark = pytest.mark.only("sqlite")

MONITORING = ROOT / "deploy/monitoring"
ALERTS: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"]
    for rule in group["rules"]
]
DASHBOARD: dict[str, Any] = json.loads((MONITORING / "grafana.json").read_text())
PROMETHEUS_OWN = {"up"}
BY_PROMETHEUS = {"job", "le"}
"""Labels that Prometheus adds, or that stand for the bounds of a histogram."""
METRIC = re.compile(r"\b(up|penstock_\w+)\b(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)(=~|!=|=)"([^"]*)"')
GROUPED = re.compile(r"\bby \(([^)]*)\)")
PLACED = re.compile(r"\{\{ ?\$labels\.(\w+) ?\}\}|\{\{(\w+)\}\}")


def expressions() -> Iterator[str]:
    """Yield every expression of the alerts and of the dashboard."""
    yield from (alert["expr"] for alert in ALERTS)
    for panel in DASHBOARD["panels"]:
        yield from (target["expr"] for target in panel["targets"])


@pytest.fixture
def exposed(
    open_copy: Callable[..., World], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> dict[str, dict[str, set[str]]]:
    """Return each metric of the page and of the command, with its labels' values."""
    state = SimpleNamespace(oldest=None, workers=0, waiting=0, taken=0)
    monkeypatch.setattr(queue, "state", lambda _: state)
    samples: dict[str, dict[str, set[str]]] = {}
    world = open_copy(metrics_token=TOKEN)
    gauges = monitoring.measure(
        world.server, OPERATOR, backups=tmp_path, budgets=True, log_size=True
    )
    measured = [(gauge.name, labels.items()) for gauge in gauges for labels, _ in gauge.values]
    for name, labels in (*read(world), *measured):
        values = samples.setdefault(name, {})
        for label, value in labels:
            values.setdefault(label, set()).add(value)
    return samples


def unknown(expression: str, exposed: dict[str, dict[str, set[str]]]) -> set[str]:
    """Return the metrics, labels and values of an expression that the page does not have."""
    missing = set()
    labels = set(BY_PROMETHEUS)
    for name, matchers in METRIC.findall(expression):
        if name in PROMETHEUS_OWN:
            continue
        if name not in exposed:
            missing.add(name)
            continue
        labels |= set(exposed[name])
        for label, _, values in MATCHER.findall(matchers):
            if label not in BY_PROMETHEUS:
                known = exposed[name].get(label, set())
                missing |= {f"{label}={value}" for value in values.split("|")} - {
                    f"{label}={value}" for value in known
                }
    for group in GROUPED.findall(expression):
        missing |= {label.strip() for label in group.split(",")} - labels
    return missing


def test_every_metric_label_and_value_is_exposed(exposed: dict[str, dict[str, set[str]]]) -> None:
    named = set()
    for expression in expressions():
        assert unknown(expression, exposed) == set(), expression
        named |= {name for name, _ in METRIC.findall(expression)}
    own = {name for name in exposed if not name.endswith(("_bucket", "_count", "_created"))}
    assert own - named == set(), "a metric that neither an alert nor the dashboard uses"


@pytest.mark.parametrize(
    ("expression", "missing"),
    [
        ("penstock_partup == 0", "penstock_partup"),
        ('penstock_part_up{part="databse"} == 0', "part=databse"),
        ('rate(penstock_requests_total{status="5x"}[5m])', "status=5x"),
        ("sum by (rout) (penstock_requests_total)", "rout"),
    ],
)
def test_what_is_not_exposed_is_noticed(
    expression: str, missing: str, exposed: dict[str, dict[str, set[str]]]
) -> None:
    assert unknown(expression, exposed) == {missing}


def test_every_alert_says_what_happened_and_what_to_do() -> None:
    assert len({alert["alert"] for alert in ALERTS}) == len(ALERTS)
    for alert in ALERTS:
        assert {"summary", "action"} == set(alert["annotations"])
        assert alert["labels"]["severity"] in {"page", "ticket"}
        for placed in PLACED.findall(" ".join(alert["annotations"].values())):
            assert placed[0] in alert["expr"]


def test_the_dashboard_can_be_imported() -> None:
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    variables = {variable["name"] for variable in DASHBOARD["templating"]["list"]}
    text = json.dumps(DASHBOARD)
    assert set(re.findall(r"\$\{?(\w+)\}?", text)) <= variables
    for panel in panels:
        assert panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24
        for target in panel["targets"]:
            legend = {name for _, name in PLACED.findall(target["legendFormat"])}
            assert legend <= {
                label.strip()
                for group in GROUPED.findall(target["expr"])
                for label in group.split(",")
            }


def promtool(*arguments: str) -> None:
    """Run Prometheus's own tool, which must be there in continuous integration."""
    program = shutil.which("promtool")
    if program is None:
        reason = "promtool is not installed (apt-get install prometheus)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


FIRED: dict[str, tuple[str, str, str]] = {
    # The series, its values from minute to minute where nothing fires, and where it does.
    "PenstockTokensGuessed": ('penstock_refusals_total{cause="bad_tokens"}', "0+5x900", "0+8x900"),
    "PenstockQueueGrows": ("penstock_jobs_waiting", "200-0.1x900", "0+1x900"),
    "PenstockMeasuredLongAgo": ("penstock_measured_timestamp_seconds", "0+60x900", "0x900"),
    "PenstockWitnessBehind": ("penstock_witness_behind_seconds", "0x600 300x300", "360x900"),
    "PenstockBackupOld": ("penstock_backup_timestamp_seconds", "0x900", "-93600x900"),
    "PenstockKeyOld": ('penstock_key_timestamp_seconds{key="values"}', "0x900", "-31536000x900"),
    "PenstockBudgetNearlySpent": (
        'penstock_budget_spent_ratio{dataset="sites",tier="public"}',
        "0.8x900",
        "0.85x900",
    ),
}
"""Alerts whose bounds are tested by Prometheus's own evaluation, over 15 hours."""


def filled(text: str, named: dict[str, str]) -> str:
    """Return an annotation as Prometheus sends it."""
    for name, value in named.items():
        text = text.replace(f"{{{{ $labels.{name} }}}}", value)
    return text.replace("{{ $value }}", named["value"])


def test_alerts_fire_beyond_their_bounds_and_not_at_them(tmp_path: Path) -> None:
    tests: list[dict[str, Any]] = []
    for name, (series, *both) in FIRED.items():
        (alert,) = [each for each in ALERTS if each["alert"] == name]
        (found,) = METRIC.findall(series)
        named = {label: value for label, _, value in MATCHER.findall(found[1])}
        if "sum(" in alert["expr"]:
            named = {}
        for values, fires in zip(both, (False, True), strict=True):
            value = 899 if "{{ $value }}" in alert["annotations"]["summary"] else None
            notes = {
                key: filled(text, {**named, "value": str(value)})
                for key, text in alert["annotations"].items()
            }
            firing = {"exp_labels": {**named, **alert["labels"]}, "exp_annotations": notes}
            tests.append(
                {
                    "interval": "1m",
                    "input_series": [{"series": series, "values": values}],
                    "alert_rule_test": [
                        {
                            "eval_time": "899m",
                            "alertname": name,
                            "exp_alerts": [firing] if fires else [],
                        }
                    ],
                }
            )
    rules = {"rule_files": [str(MONITORING / "alerts.yaml")], "tests": tests}
    (tmp_path / "tests.yaml").write_text(yaml.safe_dump(rules))
    promtool("test", "rules", str(tmp_path / "tests.yaml"))


def test_prometheus_takes_the_rules() -> None:
    promtool("check", "rules", str(MONITORING / "alerts.yaml"))
