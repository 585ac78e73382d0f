"""Stands in for the build backend of the pinned source package.

pip insists on a package's metadata before it hands a source archive over. This answers with the metadata
that the archive carries, so that neither the package's own code nor an unpinned backend runs during a
download.
"""

import email
import pathlib
import shutil


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    metadata = email.message_from_string(pathlib.Path("PKG-INFO").read_text())
    info = pathlib.Path(metadata_directory) / f"{metadata['Name']}-{metadata['Version']}.dist-info"
    info.mkdir()
    shutil.copy("PKG-INFO", info / "METADATA")
    return info.name
