"""How a comparison is shown: as Markdown, as a table of pandas, as a figure."""

import itertools
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
from comparison_cases import CPU, GRAPH
from strategies import path

import lagbc
from lagbc.comparison import measure
from lagbc.methods.table import METHODS


def test_markdown():
    table = lagbc.compare(GRAPH, 5, device="cpu")
    headline, _, titles_, rule, *lines = table.to_markdown().splitlines()
    assert headline == f"**{table.headline}**"
    assert titles_.startswith("| method | formulation | device | ms per root | GTEPS |")
    columns = titles_.count("|")
    assert rule == "|" + "---|" * (columns - 1)
    rows = list(itertools.takewhile(lambda line: line.startswith("|"), lines))
    assert [row.count("|") for row in rows] == [columns] * len(table.measured)
    assert [row.split(" | ")[0] for row in rows] == [f"| {record.method}" for record in table.measured]
    assert table._repr_markdown_() == table.to_markdown()


def test_markdown_names_what_was_skipped(only_rows):
    only_rows(METHODS[0], replace(METHODS[0], name="missing", requires="no_such_library"))
    text = lagbc.compare(GRAPH, 2).to_markdown()
    (line,) = [line for line in text.splitlines() if line.startswith("- ")]
    assert line.startswith(
        "- missing on cpu not measured: it needs no_such_library, which is not installed: pip install"
    )


def test_methods_skipped_for_the_same_reason_share_a_line(only_rows):
    gone = [replace(METHODS[0], name=name, requires="no_such_library") for name in ("one", "two")]
    only_rows(METHODS[0], *gone)
    (line,) = lagbc.compare(GRAPH, 2).reasons()
    assert line.startswith("one on cpu, two on cpu not measured: it needs no_such_library, which is not installed: pip")


def test_headline():
    table = lagbc.compare(path(3), 5, device="cpu", directed=False, threads=1)
    assert table.headline == "3 vertices, 2 undirected edges; 3 roots; 1 CPU thread"


def test_pandas_has_to_be_installed(monkeypatch):
    table = lagbc.compare(GRAPH, 2, device="cpu")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(lagbc.MissingDependencyError, match="pip install pandas"):
        table.to_pandas()
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=list))
    rows = table.to_pandas()
    assert [row["method"] for row in rows] == [record.method for record in table.records]
    assert rows[0]["gteps"] == table.records[0].gteps


def test_progress_and_report(capsys):
    seen = []
    table = lagbc.compare(GRAPH, 2, device="cpu", progress=True, report=seen.append)
    assert tuple(seen) == table.records
    assert f"{CPU[0].name} on cpu" in capsys.readouterr().err


def test_plot(tmp_path, only_rows):
    pytest.importorskip("matplotlib")
    only_rows(*CPU, replace(METHODS[0], name="missing", requires="no_such_library"))
    table = lagbc.compare(GRAPH, 5)
    figure = table.plot(tmp_path / "table.png", title="scale-free")
    assert (tmp_path / "table.png").stat().st_size > 0
    times, memories = figure.axes
    assert figure.get_suptitle() == f"scale-free: {table.headline}"
    assert times.get_xlabel() == "milliseconds per root"
    assert memories.get_xlabel() == "MiB at the peak"
    assert times.get_xscale() == "log"
    fastest_last = sorted(table.measured, key=lambda record: -record.seconds_per_root)
    assert [label.get_text() for label in times.get_yticklabels()] == [record.title for record in fastest_last]
    bars = sorted((bar for container in times.containers for bar in container), key=lambda bar: bar.get_y())
    widths = [bar.get_width() for bar in bars]
    assert widths == [pytest.approx(record.seconds_per_root * 1e3) for record in fastest_last]
    assert [text.get_text() for text in times.texts] == [f"{record.gteps:.3g} GTEPS" for record in fastest_last]
    assert "missing on cpu not measured: it needs no_such_library, which is not installed" in figure.get_supxlabel()
    assert {text.get_text() for text in figure.legends[0].get_texts()} == {f"{row.formulation}, cpu" for row in CPU}


def test_plot_says_where_memory_was_not_measured(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(measure, "_trim", lambda: False)
    table = lagbc.compare(GRAPH, 2, device="cpu")
    assert all(record.peak_bytes is None and record.bytes_per_state is None for record in table.measured)
    memories = table.plot().axes[1]
    assert [text.get_text() for text in memories.texts] == ["not measured"] * len(table.measured)
    assert all(text.xy[0] >= memories.get_xlim()[0] for text in memories.texts)


@pytest.mark.parametrize(("fast", "slow"), [(3.7e-4, 3.7e-4), (1.0, 2.5), (2e-3, 9e-3)])
def test_labels_of_a_decade_are_several_and_apart(fast, slow):
    pytest.importorskip("matplotlib")
    table = lagbc.compare(GRAPH, 1, device="cpu")
    one = table.measured[0]
    records = tuple(replace(one, seconds_per_root=value, peak_bytes=int(value * 2**30)) for value in (fast, slow))
    figure = replace(table, records=records).plot()
    figure.draw_without_rendering()
    for axes in figure.axes:
        low, high = axes.get_xlim()
        boxes = [
            tick.label1.get_window_extent() for tick in axes.xaxis.get_major_ticks() if low <= tick.get_loc() <= high
        ]
        assert len(boxes) >= 3
        assert not any(a.overlaps(b) for a, b in itertools.pairwise(boxes))
        assert not any(tick.label1.get_text() for tick in axes.xaxis.get_minor_ticks())


def test_plot_of_nothing_measured(only_rows):
    pytest.importorskip("matplotlib")
    only_rows(replace(METHODS[0], requires="no_such_library"))
    figure = lagbc.compare(GRAPH, 2).plot()
    assert "no_such_library, which is not installed" in figure.get_supxlabel()
