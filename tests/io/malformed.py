"""What a reader says of a malformed file."""

import pytest

from lagbc.errors import GraphFormatError
from lagbc.io.read import read_graph


def check_error(path, line, parts):
    with pytest.raises(GraphFormatError) as caught:
        read_graph(path)
    message = str(caught.value)
    assert message.startswith(f"{path}, line {line}: "), message
    for part in (*parts, "; expected "):
        assert part in message


def dense(file):
    return file.matrix.toarray().tolist()
