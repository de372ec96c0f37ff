"""The site of the documentation, by Sphinx; `sh setup.sh docs` builds it in build/docs.

The source folder is the checkout, so that links between docs/, notebooks/ and benchmarks/ hold on the site as in the
checkout.
"""

from pathlib import PurePath
from typing import Any

from sphinx.application import Sphinx
from sphinx_gallery.scrapers import figure_rst

from lagbc import __version__


def save_figure(block: Any, variables: dict[str, Any], gallery: dict[str, Any]) -> str:
    """Show the figure that a block of an example leaves as `figure`; pyplot, where the gallery looks, has none."""
    path = next(variables["image_path_iterator"])
    variables["example_globals"]["figure"].savefig(path, dpi=100, bbox_inches="tight")
    return figure_rst([path], gallery["src_dir"])


project = "lagbc"
author = "the lagbc authors"
copyright = author
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_nb",
    "sphinx_gallery.gen_gallery",
]
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "notebooks/*.ipynb",
    "README.md",
    "CHANGELOG.md",
    "benchmarks/README.md",
    "benchmarks/results/*.md",
    "lagbc/data/README.md",
]
# Long tables of one network a row, to which no page links; and folders without pages, which would be searched.
long_tables = ["benchmarks/results/against_*.md", "benchmarks/results/levels_*.md"]
exclude_patterns = ["docs/gallery/**", "docs/pictures/*.ipynb", ".git", ".venv", "build", *long_tables]

# A notebook is shown with the pictures that are stored in it.
nb_execution_mode = "off"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["config.cache", "myst.header"]  # tables of results begin at any level

autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": ["docs/gallery"],
    "gallery_dirs": ["docs/pictures"],
    "filename_pattern": "/",
    "image_scrapers": (save_figure,),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "lagbc"
html_theme_options = {"navigation_with_keys": False, "show_prev_next": False, "secondary_sidebar_items": ["page-toc"]}
html_sidebars = {"docs/index": []}
html_copy_source = False


def add_title(app: Sphinx, page: str, source: list[str]) -> None:
    """Give tables of results without a title the name of their file."""
    if page.startswith("benchmarks/results/") and not source[0].startswith("# "):
        source[0] = f"# {PurePath(page).name}\n\n{source[0]}"


def setup(app: Sphinx) -> None:
    """Connect what this file adds to the build."""
    app.connect("source-read", add_title)
