"""Find the files of datasets: below the folder that the settings name."""

from pathlib import Path

from penstock.errors import InvalidInput
from penstock.services.context import Server
from penstock.services.schemas.queries import DatasetRequest
from penstock.settings import Settings


def located(server: Server, request: DatasetRequest) -> DatasetRequest:
    """Return the request with an absolute path; refuse paths that are not allowed."""
    if request.source.uri is None or "://" in request.source.uri:
        return request  # the connector refuses an address by name
    path = allowed_path(server, request.source.uri)
    source = request.source.model_copy(update={"uri": str(path)})
    return request.model_copy(update={"source": source})


def folder_of_data(settings: Settings) -> Path | None:
    """Return the only folder whose files may be registered; None if all files may be."""
    own = None if settings.data_anywhere else settings.home.resolve() / "data"
    return settings.data_folder or own


def folder_of_uploads(settings: Settings) -> Path:
    """Return the folder to which files are uploaded, whose files may always be registered."""
    return settings.data_folder or settings.home.resolve() / "data"


def files_of_data(settings: Settings, most: int) -> list[str]:
    """Return the names of the first ``most`` CSV and Parquet files in the folder of uploads.

    Those of uploads that are not finished begin with a dot, and are left out as hidden ones are.
    There are none if the folder is missing or may not be listed.
    """
    kinds = (".csv", ".parquet")
    try:
        files = [
            path.name
            for path in folder_of_uploads(settings).iterdir()
            if path.suffix.lower() in kinds and not path.name.startswith(".") and path.is_file()
        ]
    except OSError:
        return []
    return sorted(name for name in files if name.isprintable())[:most]


def allowed_path(server: Server, uri: str) -> Path:
    """Resolve a file's links; raise ``InvalidInput`` if it may not be registered.

    A relative path is looked for in the only folder whose files may be registered, if there is one.
    """
    path, settings = Path(uri), server.settings
    folder, data = settings.data_folder, settings.home.resolve() / "data"
    only = folder_of_data(settings)
    path = (only / path if only else path).resolve()
    closed = [settings.home, settings.database_path, settings.keys_path, settings.witness_path]
    # Except in the data folder, none of the server's own files are data.
    inside_home = any(path.is_relative_to(closed_folder.resolve()) for closed_folder in closed)
    if inside_home and not path.is_relative_to(data):
        raise InvalidInput(
            "A file inside the server's own folders cannot be registered; move it to"
            f" {data} or elsewhere.",
            pointer="/source/uri",
        )
    if folder is not None and not path.is_relative_to(folder.resolve()):
        raise InvalidInput(
            "Only files below the folder in PENSTOCK_DATA_FOLDER can be registered;"
            " move the file there, or ask the operator.",
            pointer="/source/uri",
        )
    if folder is None and not (settings.data_anywhere or path.is_relative_to(data)):
        raise InvalidInput(
            f"No folder of data is set, so only files below {data} can be registered. Move the"
            " file there, or ask the operator to set PENSTOCK_DATA_FOLDER to the folder that"
            " holds the data (PENSTOCK_DATA_ANYWHERE=on allows every file that it can read).",
            pointer="/source/uri",
        )
    return path
