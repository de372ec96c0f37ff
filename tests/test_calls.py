"""The phases of a call: each has its own time, wherever it is marked, and nothing is recorded unasked."""

import logging
import re
import threading
from contextlib import suppress

import pytest
from strategies import path

import lagbc
from lagbc import calls
from lagbc.native.pool import Pool


@pytest.fixture
def clock(monkeypatch):
    """Return a function that lets time pass."""
    now = [0.0]
    monkeypatch.setattr(calls.time, "perf_counter", lambda: now[0])

    def wait(seconds):
        now[0] += seconds

    return wait


def found(recorder):
    return {name: seconds for name, seconds in recorder.seconds.items() if seconds}


def test_a_phase_within_another_counts_for_itself(clock):
    with calls.record() as recorder:
        clock(100)
        with calls.phase("sweep"):
            clock(1)
            with calls.phase("prepare"):
                clock(2)
                calls.in_phase("compile")(clock)(4)
            clock(8)
        with calls.phase("sweep"):
            clock(16)
    assert tuple(recorder.seconds) == calls.PHASES
    assert found(recorder) == {"sweep": 25, "prepare": 2, "compile": 4}


def test_what_is_not_asked_for_is_not_recorded(clock):
    with calls.record() as recorder:
        pass
    with calls.phase("sweep"):
        clock(1)
    calls.in_phase("sweep")(clock)(1)
    assert not found(recorder)


def test_a_phase_ends_with_an_error(clock):
    with calls.record() as recorder, calls.phase("sweep"):
        with suppress(ZeroDivisionError), calls.phase("prepare"):
            clock(1)
            raise ZeroDivisionError
        clock(2)
    assert found(recorder) == {"sweep": 2, "prepare": 1}


def test_two_workers_that_compile_at_once_count_once(clock):
    both, one_ended = threading.Barrier(2), threading.Event()

    def compiles(first):
        with calls.phase("compile"):
            both.wait(10)
            if first:
                clock(1)
            else:
                one_ended.wait(10)
                clock(2)
        one_ended.set()

    with calls.record() as recorder, calls.phase("sweep"), Pool(2) as pool:
        for call in [pool.submit(compiles, True), pool.submit(compiles, False)]:
            call.result()
        clock(4)
    assert found(recorder) == {"compile": 3, "sweep": 4}


def test_the_device_is_waited_for_at_the_end_of_a_phase(clock):
    with calls.record(wait=lambda: clock(1)) as recorder, calls.phase("order"):
        clock(1)
    assert found(recorder) == {"order": 2}


def test_a_call_is_in_all_phases(monkeypatch, weighted):
    monkeypatch.setattr("lagbc.methods.table._loaded", {})  # as in a new process
    with calls.record() as recorder:
        lagbc.bc(path(300), weighted=weighted, device="cpu")
    assert min(recorder.seconds.values()) > 0


@pytest.mark.parametrize(
    ("call", "name", "told"),
    [
        (lambda A: lagbc.bc(A, directed=False), "bc", "4 vertices, 3 undirected edges; 4 roots; .* on cpu"),
        (lambda A: lagbc.centralities(A, ("bc", "closeness"), k=2, rng=1), "bc, closeness", "2 roots; .* of memory"),
        (lambda A: lagbc.estimate(A), "estimate of bc", "scores are exact"),
        (lambda A: lagbc.group_bc(A, [[0]]), "group_bc", None),
    ],
)
def test_plan_and_seconds_are_logged_where_somebody_asks(caplog, capfd, call, name, told):
    with caplog.at_level(logging.WARNING, "lagbc"):
        call(path(4))
    assert not caplog.records
    with caplog.at_level(logging.INFO, "lagbc"):
        call(path(4))
    assert {record.name for record in caplog.records} == {"lagbc"}
    *plans, end = (record.getMessage() for record in caplog.records)
    assert re.fullmatch(rf"{name}: \S+ s", end)
    assert [bool(re.search(rf"^{name}: .*{told}", plan)) for plan in plans] == ([] if told is None else [True])
    caplog.clear()
    with caplog.at_level(logging.INFO, "lagbc"), pytest.raises(ValueError, match="method"):
        lagbc.bc(path(4), method="none")
    assert not caplog.records
    assert capfd.readouterr() == ("", "")
