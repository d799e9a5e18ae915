"""Test the texts for readers that an answer has, and those of older servers that have none."""

from penstock_client._http.fields import Fields
from penstock_client._values.wording import Wording


def test_texts_are_read() -> None:
    sent = {
        "title": "Stays",
        "description": "",
        "unit": "days",
        "tags": ["health"],
        "labels": {"0": "North"},
        "owners": ["ada"],
    }
    read = Wording.read(Fields(sent, "query"))
    assert (read.title, read.unit, read.tags, read.owners) == (
        "Stays", "days", ("health",), ("ada",),
    )  # fmt: skip
    assert read.labels == read.shown_labels == {"0": "North"}
    assert hash(read) == hash(Wording("Stays", "", "days", ("health",), {}, ("ada",)))


def test_labels_of_the_dataset_are_shown_where_a_statistic_has_none() -> None:
    read = Wording.read(Fields({"labels": {}, "shown_labels": {"0": "North"}}, "query"))
    assert (read.labels, read.shown_labels) == ({}, {"0": "North"})


def test_an_older_server_sends_none() -> None:
    assert Wording.read(Fields({}, "query")) == Wording()
