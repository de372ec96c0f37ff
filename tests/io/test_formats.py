"""Formats register themselves, those outside of lagbc, too."""

import re

import numpy as np
import pytest

import lagbc
from lagbc.io.formats import FORMATS, reader
from lagbc.io.graph_file import GraphFile, compressed

LETTERS = "ring of letters"


@pytest.fixture
def ring():
    """A format that is added here: a word whose letters are vertices, each with an edge to the next."""

    @reader(LETTERS, suffixes=(".ring",), begins=re.compile(rb"ring:"), takes=("names",))
    def read_ring(source, largest, said):
        ((line, text),) = source.lines()
        word = text.removeprefix(b"ring:").decode()
        if not word.isalpha():
            source.fail(line, "not a letter", text, "letters")
        numbers = np.arange(len(word))
        rows, _ = compressed(len(word), numbers, np.roll(numbers, -1), None, directed=True, largest=largest)
        return GraphFile(rows, True, LETTERS, np.array([*word], np.dtypes.StringDType()), has_values=False)

    yield
    del FORMATS[LETTERS]


@pytest.mark.usefixtures("ring")
@pytest.mark.parametrize(("text", "name"), [("abcd", "g.ring"), ("ring:abcd", "g.txt"), ("ring:abcd", "g.mtx")])
def test_a_format_is_added_in_one_place(write, text, name):
    graph = lagbc.read_graph(write(text, name), names=True)
    assert (graph.format, graph.labels.tolist()) == (LETTERS, [*"abcd"])
    assert lagbc.bc(graph).tolist() == [3] * 4
    with pytest.raises(lagbc.GraphFormatError, match=r"g\.\w+, line 1: not a letter: .*; expected letters"):
        lagbc.read_graph(write(text + "1", name))
    with pytest.raises(ValueError, match="length means nothing to the format ring of letters"):
        lagbc.read_graph(write(text, name), length=3)


def test_read_graph_names_every_format_and_suffix():
    lagbc.read_graph("example:karate")
    documentation = lagbc.read_graph.__doc__
    for form in FORMATS.values():
        assert form.name.removeprefix("SciPy ") in documentation
        assert all(f"``{suffix}``" in documentation for suffix in form.suffixes)
