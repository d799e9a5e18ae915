"""Test ``deploy/monitoring/collector.yaml``: its parts fit each other, and what Penstock is told.

The collector itself is not started.
"""

import re
from typing import Any
from urllib.parse import urlsplit

import yaml
from tests.contracts.deployments.deployment_files import DEPLOY

from penstock.setting_sources import load

TEXT = (DEPLOY / "monitoring/collector.yaml").read_text()
ADDRESS = re.compile(r"https://collector\.example\.org\S*/v1/traces")


def parts_astray(content: dict[str, Any]) -> set[str]:
    """Return the parts that the service names and nobody defines, or that it forgets."""
    defined = {f"{kind}/{name}" for kind in content if kind != "service" for name in content[kind]}
    (pipeline,) = content["service"]["pipelines"].values()
    used = {f"{kind}/{name}" for kind, names in pipeline.items() for name in names}
    return defined ^ (used | {f"extensions/{name}" for name in content["service"]["extensions"]})


def test_the_service_has_the_parts_that_are_defined() -> None:
    assert parts_astray(yaml.safe_load(TEXT)) == set()
    mistaken = TEXT.replace("exporters: [otlp]", "exporters: [tempo]")
    assert parts_astray(yaml.safe_load(mistaken)) == {"exporters/otlp", "exporters/tempo"}


def test_it_takes_traces_alone_by_tls_from_holders_of_a_token() -> None:
    content = yaml.safe_load(TEXT)
    assert set(content["service"]["pipelines"]) == {"traces"}
    assert set(content["receivers"]["otlp"]["protocols"]) == {"http"}
    taken = content["receivers"]["otlp"]["protocols"]["http"]
    assert set(taken["tls"]) == {"cert_file", "key_file"}
    assert taken["auth"]["authenticator"] in content["service"]["extensions"]
    assert not taken["tls"].keys() & {"insecure", "insecure_skip_verify"}


def test_penstock_is_told_where_it_listens() -> None:
    content = yaml.safe_load(TEXT)
    _, port = content["receivers"]["otlp"]["protocols"]["http"]["endpoint"].split(":")
    told = re.findall(r"PENSTOCK_TRACES_URL=(\S+)", TEXT)
    documented = ADDRESS.findall((DEPLOY / "README.md").read_text())
    assert told == documented
    settings, _ = load({"PENSTOCK_TRACES_URL": told[0]})
    place = urlsplit(settings.traces_url)
    assert (place.scheme, str(place.port), place.path) == ("https", port, "/v1/traces")
