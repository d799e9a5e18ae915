"""Test that the version is that of the installed package."""

from importlib.metadata import version

from penstock_client._http.version import __version__


def test_the_version_is_that_of_the_installed_package() -> None:
    assert version("penstock-client") == __version__
