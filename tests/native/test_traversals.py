"""Workers of the traversals by themselves, for both types of indices: what they find, take and refuse."""

import numpy as np
import pytest
from refused import of_shape, refused
from strategies import grid, with_lengths

from lagbc.methods.cpu.traversal import Size
from lagbc.methods.sums import Sums, bits_of
from lagbc.native import classes_of, core, csr

# The queues, by the count of buckets.
QUEUES = {"hops": -1, "heap": 0, "buckets": 8}
# The sums within bounds, as `set_bounds` takes their columns.
NEAR = "dependency", "stress", "reached", "distance", "inverse", "edges", "depth", "targets", "gravity", "straight"
MESH = with_lengths(grid(5, 7), [1.0, 2.0, 3.0]).tocsr()


def graph_of(A, index):
    A = A.tocsr()
    return csr(A.indptr.astype(np.int64), A.indices.astype(index), A.data.astype(float))


def size_of(A, queue, **more):
    sizes = {"sums": bits_of({"dependency"}), "block": 0, "most_kept": 0, "roots": 0}
    sizes |= dict.fromkeys(("has_omega", "has_class_sizes", "has_coordinates", "has_trips"), False)
    columns = dict.fromkeys(("of_vertices", "of_edges", "of_roots"), 0)
    return Size(n=A.shape[0], nnz=A.nnz, most=A.nnz, buckets=QUEUES[queue], **sizes | columns | more)


def worker(A, index, queue="hops", sums=("dependency",), size=None, **given):
    """Make a worker of a graph that is in sweep order."""
    order = np.arange(A.shape[0])
    has = {f"has_{name}": name in given for name in ("omega", "class_sizes")}
    size = size_of(A, queue, **has) if size is None else size
    arguments = {
        "size": size._replace(sums=bits_of(sums)),
        "graph": graph_of(A, index),
        "order": order,
        "position": order,
        **dict.fromkeys(("root_weights", "omega", "class_sizes", "x", "y")),
        "per_length": 1.01,
        "request": (np.inf, 2.0**1000, 0.0, False, False),
    }
    return classes_of("Traversal")[np.dtype(index)](**arguments | given)


@pytest.mark.parametrize("name", ["order", "position", "root_weights", "omega", "class_sizes", "x", "y"])
def test_arrays_of_another_size_are_refused(name):
    wrong = np.ones(34, np.int64 if name in ("order", "position") else float)
    refused(ValueError, of_shape(name, 35), worker, MESH, np.int32, **{name: wrong})


def test_what_is_refused_is_named():
    sweep, roots, far, size = worker(MESH, np.int32), np.arange(3), np.array([35]), size_of(MESH, "hops")
    for wrong, told in (({"n": 34}, f"34 rows and {MESH.nnz}"), ({"nnz": 5}, "35 rows and 5")):
        told = f"graph has to have {told} edges, not 35 rows and {MESH.nnz} edges"
        refused(ValueError, told, worker, MESH, np.int32, size=size._replace(**wrong))
    told = "size has to tell whether there are omega, class_sizes, x and y"
    refused(ValueError, told, worker, MESH, np.int32, size=size, omega=np.ones(35))
    told = "roots has to be a C-contiguous array of int64 .*, not an array of float64"
    refused(TypeError, told, sweep.sum, roots.astype(float), None, None)
    told = "root 35 is none of the 35 vertices"
    refused(IndexError, told, sweep.sum, far, None, None)
    refused(IndexError, told, worker(MESH, np.int32, size=size._replace(roots=35)).sum_within, far)
    refused(IndexError, told, sweep.write_paths, far, *np.zeros((2, 35, 1)))
    refused(ValueError, of_shape("times", 3, found=(2,)), sweep.sum, roots, np.ones(2), None)
    refused(ValueError, of_shape("omega", 3, 35, found=(2, 35)), sweep.sum, roots, None, np.ones((2, 35)))
    refused(ValueError, of_shape("stress", 35, found=(34,)), sweep.take, Sums(stress=np.zeros((1, 34))).row(0), None)
    told = "edge_order has to be there, as edges are summed"
    refused(ValueError, told, sweep.take, Sums(edges=np.zeros((1, MESH.nnz))).row(0), None)
    refused(
        ValueError, of_shape("radii", 6, found=(5,)), sweep.set_bounds, np.ones(5), np.ones(2), np.ones(3), (-1,) * 10
    )
    of_roots = worker(MESH, np.int32, size=size._replace(roots=1, of_roots=1))
    refused(ValueError, "straight lines need x and y", of_roots.set_bounds, *np.ones((3, 1)), (*(-1,) * 9, 0))
    refused(
        ValueError,
        of_shape("dist", 35, 3, found=(35, 2)),
        sweep.write_paths,
        roots,
        np.zeros((35, 2)),
        np.zeros((35, 3)),
    )
    told = "a block within bounds has 0 roots at most, not 3"
    refused(ValueError, told, sweep.sum_within, roots)
    refused(ValueError, told, sweep.take_within, roots, None)
    refused(AttributeError, "known", sweep.array, "known")


@pytest.mark.parametrize("name", ["dependency", "stress", "inverse", "edges", "depth", "gravity"])
def test_sums_within_bounds_end_by_the_last_column(name, index):
    """Two cutoffs with three decays each have six columns of the sums that decay, and two of the others."""
    widths = {"of_vertices": 7, "of_edges": 7, "of_roots": 7}
    sweep = worker(MESH, index, size=size_of(MESH, "hops", roots=1, **widths), sums=frozenset({"dependency", "edges"}))
    last = 1 if name in ("dependency", "edges", "gravity") else 5
    for first in (last, last + 1):
        columns = tuple(first if name == one else -1 for one in NEAR)
        given = np.ones(6), np.ones(3), np.ones(2), columns
        if first == last:
            sweep.set_bounds(*given)
        else:
            refused(ValueError, rf"^{name} has to end by column 7, not 8$", sweep.set_bounds, *given)


@pytest.mark.parametrize("name", ["edges", "stress"])
def test_there_is_no_room_for_sums_that_are_not_asked_for(name, index):
    sweep = worker(MESH, index, size=size_of(MESH, "hops", roots=1, of_edges=2), sums=frozenset({"dependency"}))
    columns = tuple(0 if name == one else -1 for one in NEAR)
    told = rf"^{name} has to end by column 0, not 2$"
    refused(ValueError, told, sweep.set_bounds, np.ones(2), np.ones(1), np.ones(2), columns)


def test_trips_of_another_size_are_refused(index):
    sweep = worker(MESH, index, size=size_of(MESH, "hops", has_trips=True))
    given = {"numbers": np.ones(4), "ends": np.zeros(4, index)}
    given |= {"first": np.zeros(36, np.int64), "shifts": np.zeros(35, np.int64)}
    refused(ValueError, "size has to tell whether there are trips", worker(MESH, index).set_trips, **given)
    sweep.set_trips(**given)
    for name in ("ends", "first", "shifts"):
        refused(ValueError, rf"{name} has to be of shape", sweep.set_trips, **given | {name: given[name][1:]})
    other, told = np.int32 if index == np.int64 else np.int64, f"ends has to be a C-contiguous .* {np.dtype(index)}"
    refused(TypeError, told, sweep.set_trips, **given | {"ends": given["ends"].astype(other)})


@pytest.mark.parametrize("buckets", [3, 12])
def test_buckets_are_a_power_of_two(buckets):
    told, size = f"buckets have to be a power of two, not {buckets}", size_of(MESH, "heap")
    refused(ValueError, told, worker, MESH, np.int32, size=size._replace(buckets=buckets))


def test_a_near_tie_is_found(index):
    """Two ways from 0 to 3: 0.1 + 0.2 and 0.3, of which the first is longer in float64."""

    def find(roots, most=100, lengths=(0.1, 0.3, 0.2, 5.0)):
        graph = csr(np.array([0, 2, 3, 4, 4]), np.array([1, 3, 3, 0], index), np.array(lengths))
        return core.find_near_tie(graph, np.array(roots), most, 2.0**-48)

    assert find([1, 3, 0]) == (0, 3, 0.3, 0.1 + 0.2)
    assert find([2, 1, 2, 0]) == find([0]), "a search leaves nothing for the next"
    assert find([1, 3]) == (-1, -1, 0, 0)
    assert find([0], most=1)[0] == -1, "its end is not settled"
    assert find([0], lengths=[1.0, 3.0, 2.0, 5.0])[0] == -1, "a tie"
