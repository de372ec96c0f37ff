"""Every way in which a library holds a column: each takes a list."""

import numpy as np
import pytest


def of(library):
    """Return a library, without which the test is skipped."""
    return pytest.importorskip(library)


def chunks(column):
    return of("pyarrow").chunked_array([column[:2], column[2:]], of("pyarrow").array(column).type)


FORMS = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "numpy objects": lambda column: np.array(column, object),
    "numpy strings": lambda column: np.array(column, np.dtypes.StringDType()),
    "pandas": lambda column: of("pandas").Series(column),
    "pandas nullable": lambda column: of("pandas").Series(column).convert_dtypes(),
    "pandas objects": lambda column: of("pandas").Series(column, dtype=object),
    "pandas categories": lambda column: of("pandas").Series(column, dtype="category"),
    "pandas index": lambda column: of("pandas").Index(column),
    "pandas texts": lambda column: of("pandas").Series(column, dtype="str"),
    "polars": lambda column: of("polars").Series(column),
    "polars categories": lambda column: of("polars").Series(column, dtype=of("polars").Categorical),
    "arrow": lambda column: of("pyarrow").array(column),
    "arrow chunks": chunks,
    "arrow views": lambda column: of("pyarrow").array(column, of("pyarrow").string_view()),
    "arrow dictionary": lambda column: of("pyarrow").array(column).dictionary_encode(),
}
# These hold texts alone.
OF_TEXTS = ("numpy strings", "pandas texts", "polars categories", "arrow views")
