"""List every figure by its name, with what it shows and the paper that it is from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module

from penstock.errors import InvalidInput
from penstock.experiments.drawing.texts import Drawn


@dataclass(frozen=True)
class Experiment:
    """Hold a figure: ``place`` is the module and the function that makes it, on first use."""

    shows: str
    paper: str
    place: str

    def draw(self) -> Drawn:
        """Compute the figure; raise ``ArithmeticError`` if drawn noise does not have its law."""
        module, _, name = self.place.partition(":")
        make: Callable[[], Drawn] = getattr(import_module(f"penstock.experiments.{module}"), name)
        return make()


EXPERIMENTS: Mapping[str, Experiment] = {
    "figure2": Experiment(
        "variance against the number of releases, on one path and independently",
        "Andersson, Retschmeier, Nelson, Pagh 2025, Figure 2",
        "many_releases:draw",
    ),
    "utilities": Experiment(
        "noise of each mechanism at equal guarantees; a table alone",
        "none",
        "utilities:draw",
    ),
    "trees": Experiment(
        "squared errors of running sums by trees",
        "Andersson, Pagh, Steiner, Torkamani 2024, Theorem 1.1",
        "running_sums:draw_trees",
    ),
    "crossover": Experiment(
        "the delta from which on Gaussian noise is better than Laplace noise",
        "Andersson, Pagh, Steiner, Torkamani 2024, Theorem 1.2",
        "running_sums:draw_crossover",
    ),
    "smooth": Experiment(
        "variance of running sums over time, and the largest",
        "Andersson, Pagh 2023, Figure 4",
        "running_sums:draw_smooth",
    ),
    "correlated": Experiment(
        "many counts over one population: with its size, and of few entries each",
        "Lebeda 2024, Figures 2 and 3",
        "correlated:draw",
    ),
    "corrections": Experiment(
        "largest errors of many counts, the worst answered again or not",
        "Ganesh, Zhao 2021",
        "corrections:draw",
    ),
}


def experiment(name: str) -> Experiment:
    """Return a figure; raise ``InvalidInput`` for a name that is not listed."""
    if name not in EXPERIMENTS:
        raise InvalidInput(f"No figure is called {name!r}; there are {', '.join(EXPERIMENTS)}.")
    return EXPERIMENTS[name]
