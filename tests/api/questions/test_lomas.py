"""Test that a notebook that was written for lomas runs on a server, with its import changed.

The cells are of this project; they call what notebooks of lomas call.
"""

import io
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from tests.api.questions.survey import ANALYST, BOTH, SURVEY, Survey

from penstock_client import Forbidden, InvalidArgument, InvalidInput
from penstock_client.lomas import Client

CELLS = (
    "from lomas_client import Client",
    'client = Client(url=APP_URL, user_name="Dr. Antartica", dataset_name="penguins")',
    'metadata = client.get_dataset_metadata()\nprint(metadata["columns"]["species"])',
    "NB_ROWS, SEED = 60, 7",
    "dummy = client.get_dummy_dataset(nb_rows=NB_ROWS, seed=SEED)\nprint(dummy.shape)",
    'QUERY = "SELECT COUNT(*) AS nb_penguins, AVG(mass) AS avg_mass, VAR_POP(mass) AS v FROM df"',
    "sizes = dict(dummy=True, nb_rows=NB_ROWS, seed=SEED)",
    "dummy_res = client.smartnoise_sql.query(QUERY, epsilon=100.0, delta=0.99, **sizes)",
    'print(round(dummy_res.result.df["nb_penguins"][0]), len(dummy))',
    'assert abs(dummy_res.result.df["avg_mass"][0] - dummy["mass"].mean()) < 5',
    "print(client.get_initial_budget())",
    "cost = client.smartnoise_sql.cost(query=QUERY, epsilon=2.0, delta=1e-5)\nprint(cost)",
    "assert 0 < cost.epsilon <= 2.0",
    "before = client.get_remaining_budget().remaining_epsilon",
    "response = client.smartnoise_sql.query(query=QUERY, epsilon=2.0, delta=1e-5)",
    'nb_penguins = response.result.df["nb_penguins"].iloc[0]',
    'avg_mass = response.result.df["avg_mass"].iloc[0]',
    "assert client.get_remaining_budget().remaining_epsilon < before",
    "assert client.get_total_spent_budget().total_spent_epsilon > 0",
    'BY_SPECIES = "SELECT species, COUNT(*) AS nb FROM df WHERE mass > 3000 GROUP BY species"',
    "by_species = client.smartnoise_sql.query(BY_SPECIES, epsilon=1.0, delta=1e-5).result.df",
    'print(by_species["species"].tolist())',
    "previous = client.get_previous_queries()\nprint(len(previous))",
    'print(previous[0]["dataset_name"], previous[0]["response"]["epsilon"] > 0)',
)
PENGUINS: dict[str, Any] = {
    **{name: SURVEY[name] for name in ("neighboring", "delta", "max_units", "budgets")},
    "name": "penguins",
    "privacy_unit": {"rows": 1},
    "columns": {
        "species": {"type": "string", "categories": ["Adelie", "Gentoo"]},
        "mass": {"type": "integer", "lower": 2000, "upper": 7000},
    },
}
COUNT = 400


@pytest.fixture
def penguins(survey: Survey, tmp_path: Path) -> Survey:
    """Register penguins, each of which is a privacy unit."""
    rows = [f"{('Adelie', 'Gentoo')[n % 2]},{3000 + n * 7 % 2000}" for n in range(COUNT)]
    path = tmp_path / "penguins.csv"
    path.write_text("\n".join(["species,mass", *rows]) + "\n")
    dataset = {**PENGUINS, "source": {"engine": "duckdb", "uri": str(path)}}
    survey.world.answer("POST", "/api/v1/datasets", dataset, by="root")
    return survey


def run(penguins: Survey, cells: tuple[str, ...], user: str = BOTH) -> tuple[dict[str, Any], str]:
    """Run cells one after another with the import changed, and return their names and output."""
    connected = penguins.as_user(user)

    def client(**arguments: Any) -> Client:
        return Client(**arguments, client=connected)

    names: dict[str, Any] = {"APP_URL": "http://lomas_server:48080"}
    printed = io.StringIO()
    with redirect_stdout(printed):
        for cell in cells:
            changed = cell.replace("from lomas_client import", "from penstock_client.lomas import")
            exec(compile(changed, "notebook", "exec"), names)  # noqa: S102 # running it is the test
            if changed != cell:
                names["Client"] = client
    return names, printed.getvalue()


def test_a_notebook_runs_to_its_end(penguins: Survey) -> None:
    names, printed = run(penguins, CELLS)
    assert "'categories': ['Adelie', 'Gentoo']" in printed
    assert "(60, 2)" in printed
    assert "60 60" in printed
    assert "['Adelie', 'Gentoo']" in printed
    assert "penguins True" in printed
    error = names["response"].result.df
    assert list(error.columns) == ["nb_penguins", "avg_mass", "v"]
    # Fifty penguins are many standard deviations of the noise at epsilon 2.
    assert abs(names["nb_penguins"] - COUNT) < 50
    assert 2000 <= names["avg_mass"] <= 7000
    assert names["response"].requested_by == BOTH


def test_the_same_query_again_costs_nothing_and_is_the_same(penguins: Survey) -> None:
    names, _ = run(penguins, CELLS)
    again, _ = run(penguins, (*CELLS[:2], CELLS[5], CELLS[11], *CELLS[13:16]), user=BOTH)
    assert again["cost"] == {"epsilon": 0.0, "delta": 0.0}
    assert again["nb_penguins"] == names["nb_penguins"]
    assert again["before"] == names["client"].get_remaining_budget().remaining_epsilon


OPEN = 'client.smartnoise_sql.query("{}", epsilon=0.5, delta=1e-5)'


@pytest.mark.parametrize(
    ("cell", "refused", "reason"),
    [
        (OPEN.format("SELECT species FROM df"), InvalidInput, "aggregate"),
        (OPEN.format("SELECT COUNT(*) FROM df LIMIT 5"), InvalidInput, "LIMIT"),
        (
            OPEN.format("SELECT COUNT(*) FROM df JOIN other ON df.a = other.a"),
            InvalidInput,
            "Line 1",
        ),
        (OPEN.format("SELECT SUM(mass) / COUNT(*) AS m FROM df"), InvalidInput, "no division"),
        (OPEN.format("SELECT MIN(beak) FROM df"), InvalidInput, "Line 1"),
        ("client.opendp.query('pipeline')", InvalidArgument, "not answered here"),
        ("client.diffprivlib.query('pipeline')", InvalidArgument, "not answered here"),
    ],
)
def test_what_is_not_in_the_subset_is_refused_with_the_reason(
    penguins: Survey, cell: str, refused: type[Exception], reason: str
) -> None:
    with pytest.raises(refused, match=reason):
        run(penguins, (*CELLS[:2], cell))
    assert penguins.as_user(BOTH).queries("penguins") == []


def test_who_may_not_register_is_told_to_request(penguins: Survey) -> None:
    with pytest.raises(Forbidden, match="request"):
        run(penguins, (*CELLS[:2], OPEN.format("SELECT COUNT(*) FROM df")), user=ANALYST)
