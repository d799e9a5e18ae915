"""gunicorn as ``penstock serve`` starts it: ``python -P -m penstock.cli.launch``.

gunicorn puts the folder in which it is started before all others that modules are
imported from.  A server may be started in a folder that others can write to, so here
nothing is ever imported from there.
"""

from gunicorn.app.wsgiapp import WSGIApplication


class Program(WSGIApplication):  # type: ignore[misc]  # gunicorn has no annotations
    """gunicorn's own program, which stays where it is and leaves the import path alone."""

    def chdir(self) -> None:
        """Do nothing: the folder is right, and no place to import from."""


if __name__ == "__main__":
    Program(prog="penstock serve").run()
