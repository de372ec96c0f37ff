"""Types of the compiled module; made by ``python -m lagbc.native.stub``."""

from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Index = TypeVar("Index", np.int32, np.int64)

def level() -> str: ...
def levels() -> list[str]: ...
def held_memory() -> tuple[int, int]:
    """Bytes that kernels, and arrays made by them, hold; and the most since this was last asked for."""

class _Csr(Generic[Index]):
    def __init__(self, *, indptr: NDArray[np.int64], indices: NDArray[Index], lengths: NDArray[np.float64] | None = ...) -> None: ...
    indptr: NDArray[np.int64]
    indices: NDArray[Index]
    lengths: NDArray[np.float64] | None

Csr32 = _Csr[np.int32]
Csr64 = _Csr[np.int64]

class _Queue(Generic[Index]):
    def __init__(self, room: int, rows: int, growth: int) -> None: ...
    def __len__(self) -> int: ...
    @property
    def vertices(self) -> NDArray[Index]: ...
    @property
    def masks(self) -> NDArray[np.uint64]: ...

Queue32 = _Queue[np.int32]
Queue64 = _Queue[np.int64]

class _LevelSweep(Generic[Index]):
    def __init__(self, *, out: _Csr[Index], queue: _Queue[Index], order: NDArray[np.int64], omega: NDArray[np.float64], class_sizes: NDArray[np.float64] | None = ..., values: NDArray[np.float64] | None = ..., paths: NDArray[np.float64] | None = ..., stop: NDArray[np.uint8], sigma_limit: float = ..., endpoints: bool = ..., linear: bool = ..., roots: int = ..., entries: int = ..., depth: int = ..., overflowed: int = ..., into: _Csr[Index], bits: NDArray[np.uint64], visited: NDArray[np.uint64], starts: NDArray[np.int64], active: int = ..., pull_share: float = ...) -> None: ...
    out: _Csr[Index]
    queue: _Queue[Index]
    order: NDArray[np.int64]
    omega: NDArray[np.float64]
    class_sizes: NDArray[np.float64] | None
    values: NDArray[np.float64] | None
    paths: NDArray[np.float64] | None
    stop: NDArray[np.uint8]
    sigma_limit: float
    endpoints: bool
    linear: bool
    roots: int
    entries: int
    depth: int
    overflowed: int
    into: _Csr[Index]
    bits: NDArray[np.uint64]
    visited: NDArray[np.uint64]
    starts: NDArray[np.int64]
    active: int
    pull_share: float

LevelSweep32 = _LevelSweep[np.int32]
LevelSweep64 = _LevelSweep[np.int64]

class _WaitingSweep(Generic[Index]):
    def __init__(self, *, out: _Csr[Index], queue: _Queue[Index], order: NDArray[np.int64], omega: NDArray[np.float64], class_sizes: NDArray[np.float64] | None = ..., values: NDArray[np.float64] | None = ..., paths: NDArray[np.float64] | None = ..., stop: NDArray[np.uint8], sigma_limit: float = ..., endpoints: bool = ..., linear: bool = ..., roots: int = ..., entries: int = ..., depth: int = ..., overflowed: int = ..., count_width: float = ..., waiting: NDArray[np.uint64], pushed: NDArray[np.uint64], nearest: NDArray[np.float64], lists: NDArray[Index], tight_masks: NDArray[np.uint64], in_starts: NDArray[np.int64], in_ends: NDArray[Index], in_masks: NDArray[np.uint64], frontier: NDArray[np.uint64], levels: _Queue[Index] | None = ..., level_starts: NDArray[np.int64] | None = ...) -> None: ...
    out: _Csr[Index]
    queue: _Queue[Index]
    order: NDArray[np.int64]
    omega: NDArray[np.float64]
    class_sizes: NDArray[np.float64] | None
    values: NDArray[np.float64] | None
    paths: NDArray[np.float64] | None
    stop: NDArray[np.uint8]
    sigma_limit: float
    endpoints: bool
    linear: bool
    roots: int
    entries: int
    depth: int
    overflowed: int
    count_width: float
    waiting: NDArray[np.uint64]
    pushed: NDArray[np.uint64]
    nearest: NDArray[np.float64]
    lists: NDArray[Index]
    tight_masks: NDArray[np.uint64]
    in_starts: NDArray[np.int64]
    in_ends: NDArray[Index]
    in_masks: NDArray[np.uint64]
    frontier: NDArray[np.uint64]
    levels: _Queue[Index] | None
    level_starts: NDArray[np.int64] | None

WaitingSweep32 = _WaitingSweep[np.int32]
WaitingSweep64 = _WaitingSweep[np.int64]

class _LengthSweep(Generic[Index]):
    def __init__(self, *, out: _Csr[Index], queue: _Queue[Index], order: NDArray[np.int64], omega: NDArray[np.float64], class_sizes: NDArray[np.float64] | None = ..., values: NDArray[np.float64] | None = ..., paths: NDArray[np.float64] | None = ..., stop: NDArray[np.uint8], sigma_limit: float = ..., endpoints: bool = ..., linear: bool = ..., roots: int = ..., entries: int = ..., depth: int = ..., overflowed: int = ..., count_width: float = ..., waiting: NDArray[np.uint64], pushed: NDArray[np.uint64], nearest: NDArray[np.float64], lists: NDArray[Index], tight_masks: NDArray[np.uint64], in_starts: NDArray[np.int64], in_ends: NDArray[Index], in_masks: NDArray[np.uint64], width: float = ..., rtol: float = ..., longest: float = ..., counts: bool = ..., distances: NDArray[np.float64], short_distances: NDArray[np.uint16] | None = ..., is_short: bool = ..., tight_starts: NDArray[np.int64] | None = ..., tight_ends: NDArray[Index] | None = ...) -> None: ...
    out: _Csr[Index]
    queue: _Queue[Index]
    order: NDArray[np.int64]
    omega: NDArray[np.float64]
    class_sizes: NDArray[np.float64] | None
    values: NDArray[np.float64] | None
    paths: NDArray[np.float64] | None
    stop: NDArray[np.uint8]
    sigma_limit: float
    endpoints: bool
    linear: bool
    roots: int
    entries: int
    depth: int
    overflowed: int
    count_width: float
    waiting: NDArray[np.uint64]
    pushed: NDArray[np.uint64]
    nearest: NDArray[np.float64]
    lists: NDArray[Index]
    tight_masks: NDArray[np.uint64]
    in_starts: NDArray[np.int64]
    in_ends: NDArray[Index]
    in_masks: NDArray[np.uint64]
    width: float
    rtol: float
    longest: float
    counts: bool
    distances: NDArray[np.float64]
    short_distances: NDArray[np.uint16] | None
    is_short: bool
    tight_starts: NDArray[np.int64] | None
    tight_ends: NDArray[Index] | None

LengthSweep32 = _LengthSweep[np.int32]
LengthSweep64 = _LengthSweep[np.int64]

class BlockSweep:
    def __init__(self, *, out: Csr32, into: Csr32, reach: Csr32, order: NDArray[np.int64], omega: NDArray[np.float64], values: NDArray[np.float64] | None = ..., paths: NDArray[np.float64] | None = ..., stop: NDArray[np.uint8], sigma_limit: float = ..., endpoints: bool = ..., linear: bool = ..., overflowed: int = ..., bits: NDArray[np.uint64], wanted: NDArray[np.uint64], marks: NDArray[np.uint8], totals: NDArray[np.float64], path_totals: NDArray[np.float64] | None = ..., met: NDArray[np.uint64], own: int = ..., dependency: NDArray[np.float64], stress: NDArray[np.float64] | None = ..., dependency_squares: NDArray[np.float64] | None = ...) -> None: ...
    out: Csr32
    into: Csr32
    reach: Csr32
    order: NDArray[np.int64]
    omega: NDArray[np.float64]
    values: NDArray[np.float64] | None
    paths: NDArray[np.float64] | None
    stop: NDArray[np.uint8]
    sigma_limit: float
    endpoints: bool
    linear: bool
    overflowed: int
    bits: NDArray[np.uint64]
    wanted: NDArray[np.uint64]
    marks: NDArray[np.uint8]
    totals: NDArray[np.float64]
    path_totals: NDArray[np.float64] | None
    met: NDArray[np.uint64]
    own: int
    dependency: NDArray[np.float64]
    stress: NDArray[np.float64] | None
    dependency_squares: NDArray[np.float64] | None

class Groups:
    def __init__(self, *, in_group: NDArray[np.bool_], is_member: NDArray[np.bool_], position: NDArray[np.int64], endpoints: bool = ..., shares: NDArray[np.float64], distances: NDArray[np.float64] | None = ...) -> None: ...
    in_group: NDArray[np.bool_]
    is_member: NDArray[np.bool_]
    position: NDArray[np.int64]
    endpoints: bool
    shares: NDArray[np.float64]
    distances: NDArray[np.float64] | None
def search_batch(sweep: LevelSweep32 | LevelSweep64 | WaitingSweep32 | WaitingSweep64 | LengthSweep32 | LengthSweep64, positions: NDArray[np.int64], /) -> None: ...
def sum_paths(sweep: LevelSweep32 | LevelSweep64 | WaitingSweep32 | WaitingSweep64 | LengthSweep32 | LengthSweep64, omega: NDArray[np.float64] | None, times: NDArray[np.float64], edge_order: NDArray[np.int64] | None, sums: tuple[NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None], /) -> bool: ...
def sum_distances(sweep: LevelSweep32 | LevelSweep64 | WaitingSweep32 | WaitingSweep64 | LengthSweep32 | LengthSweep64, sums: tuple[NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None], /) -> None: ...
def write_levels(sweep: LevelSweep32 | LevelSweep64 | WaitingSweep32 | WaitingSweep64, dist: NDArray[np.float64], /) -> None: ...
def length_distances(sweep: LengthSweep32 | LengthSweep64, positions: NDArray[np.int64], dist: NDArray[np.float64] | NDArray[np.uint16], /) -> None: ...
def add_batch_shares(sweep: WaitingSweep32 | WaitingSweep64 | LengthSweep32 | LengthSweep64, groups: Groups, first: int, last: int, panel: int, totals: NDArray[np.float64], /) -> None: ...
def pack_rows(sweep: BlockSweep, rows: NDArray[np.int32], masks: NDArray[np.uint64], has_values: bool, has_paths: bool, /) -> NDArray[np.uint8]: ...
def take_rows(sweep: BlockSweep, message: NDArray[np.uint8], first: int, has_values: bool, has_paths: bool, /) -> NDArray[np.int32]: ...
def push_rows(sweep: BlockSweep, live: NDArray[np.int32], /) -> NDArray[np.int32]: ...
def multiply_rows(sweep: BlockSweep, block: Csr32, rows: NDArray[np.int32] | None, first: int, last: int, base: int, has_values: bool, has_paths: bool, /) -> NDArray[np.uint8]: ...
def add_rows(sweep: BlockSweep, message: NDArray[np.uint8], first: int, has_values: bool, has_paths: bool, /) -> None: ...
def found_rows(sweep: BlockSweep, first: int, last: int, /) -> tuple[NDArray[np.int32], NDArray[np.uint64]]: ...
def finish_rows(sweep: BlockSweep, rows: NDArray[np.int32], masks: NDArray[np.uint64], first: int, times: NDArray[np.float64], level: int, /) -> None: ...
def count_columns(masks: NDArray[np.uint64], /) -> NDArray[np.int64]: ...
def sum_row_distances(sweep: BlockSweep, rows: NDArray[np.int32], masks: NDArray[np.uint64], starts: NDArray[np.int64], sums: tuple[NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None], /) -> None: ...
def probe_hops(graph: Csr32 | Csr64, roots: NDArray[np.int64], most: int, stop: NDArray[np.uint8], /) -> tuple[int, int, int, int, int]: ...
def relax_row(values: NDArray[np.float64] | NDArray[np.uint16], v: int, w: int, length: float, /) -> int: ...
def minimum_of_row(values: NDArray[np.float64] | NDArray[np.uint16], v: int, mask: int, /) -> float: ...
def finite_in_row(values: NDArray[np.float64] | NDArray[np.uint16], v: int, /) -> int: ...
def positive_in_row(values: NDArray[np.float64], v: int, /) -> int: ...
def tight_in_row(values: NDArray[np.float64] | NDArray[np.uint16], v: int, w: int, length: float, rtol: float, /) -> int: ...
def put_row(values: NDArray[np.float64], v: int, mask: int, total: NDArray[np.float64], limit: float, /) -> int: ...
def finish_row(values: NDArray[np.float64], v: int, mask: int, total: NDArray[np.float64], omega: float, times: NDArray[np.float64], /) -> float: ...
def finish_paths_row(paths: NDArray[np.float64], values: NDArray[np.float64], v: int, mask: int, total: NDArray[np.float64], omega: float, times: NDArray[np.float64], /) -> float: ...
def dot_rows(values: NDArray[np.float64], v: int, w: int, mask: int, times: NDArray[np.float64], /) -> float: ...
def sum_row(values: NDArray[np.float64], v: int, mask: int, /) -> float: ...
def sum_inverse_row(values: NDArray[np.float64], v: int, mask: int, /) -> float: ...
def raise_row(largest: NDArray[np.float64], values: NDArray[np.float64], v: int, mask: int, /) -> None: ...
def gather(edges: Csr32 | Csr64, bits: NDArray[np.uint64], v: int, wanted: int, values: NDArray[np.float64], total: NDArray[np.float64], /) -> int: ...

class _RootSweep(Generic[Index]):
    def __init__(self, *, out: _Csr[Index], into: _Csr[Index], class_sizes: NDArray[np.float64] | None = ..., rtol: float = ..., radius: float = ..., stop: NDArray[np.uint8]) -> None: ...
    out: _Csr[Index]
    into: _Csr[Index]
    class_sizes: NDArray[np.float64] | None
    rtol: float
    radius: float
    stop: NDArray[np.uint8]

RootSweep32 = _RootSweep[np.int32]
RootSweep64 = _RootSweep[np.int64]

def search_root(sweep: RootSweep32 | RootSweep64, root: int, /) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], int]: ...
def sum_root(sweep: RootSweep32 | RootSweep64, reached: NDArray[np.int64], dist: NDArray[np.float64], mantissas: NDArray[np.float64], powers: NDArray[np.int64], omega: NDArray[np.float64], times: float, times_power: int, edges: NDArray[np.float64] | None, /) -> NDArray[np.float64]: ...
def count_through(sweep: RootSweep32 | RootSweep64, reached: NDArray[np.int64], dist: NDArray[np.float64], mantissas: NDArray[np.float64], powers: NDArray[np.int64], omega: NDArray[np.float64], /) -> tuple[NDArray[np.float64], NDArray[np.int64]]: ...
def add_numbers(mantissas: NDArray[np.float64], powers: NDArray[np.int64], more: NDArray[np.float64], more_powers: NDArray[np.int64], /) -> None: ...

class Touched:
    def __init__(self, *, names: NDArray[np.int64], count: int = ..., kept_names: NDArray[np.int64] | None = ..., kept_sums: NDArray[np.float64] | None = ..., kept_ends: NDArray[np.int64] | None = ...) -> None: ...
    names: NDArray[np.int64]
    count: int
    kept_names: NDArray[np.int64] | None
    kept_sums: NDArray[np.float64] | None
    kept_ends: NDArray[np.int64] | None

class Totals:
    def __init__(self, *, dependency: NDArray[np.float64] | None = ..., stress: NDArray[np.float64] | None = ..., edges: NDArray[np.float64] | None = ..., reached: NDArray[np.float64] | None = ..., distance: NDArray[np.float64] | None = ..., inverse: NDArray[np.float64] | None = ..., dependency_squares: NDArray[np.float64] | None = ..., edges_squares: NDArray[np.float64] | None = ..., distance_squares: NDArray[np.float64] | None = ..., inverse_squares: NDArray[np.float64] | None = ..., of_vertices: Touched | None = ..., of_edges: Touched | None = ..., block: int = ..., kept: int = ...) -> None: ...
    dependency: NDArray[np.float64] | None
    stress: NDArray[np.float64] | None
    edges: NDArray[np.float64] | None
    reached: NDArray[np.float64] | None
    distance: NDArray[np.float64] | None
    inverse: NDArray[np.float64] | None
    dependency_squares: NDArray[np.float64] | None
    edges_squares: NDArray[np.float64] | None
    distance_squares: NDArray[np.float64] | None
    inverse_squares: NDArray[np.float64] | None
    of_vertices: Touched | None
    of_edges: Touched | None
    block: int
    kept: int

class Asked:
    def __init__(self, *, class_sizes: NDArray[np.float64] | None = ..., radius: float = ..., limit: float = ..., rtol: float = ..., counts_paths: bool = ..., endpoints: bool = ..., linear: bool = ..., stop: NDArray[np.uint8]) -> None: ...
    class_sizes: NDArray[np.float64] | None
    radius: float
    limit: float
    rtol: float
    counts_paths: bool
    endpoints: bool
    linear: bool
    stop: NDArray[np.uint8]

class Found:
    def __init__(self, *, reached: NDArray[np.int64], depth: NDArray[np.float64], overflowed: NDArray[np.bool_]) -> None: ...
    reached: NDArray[np.int64]
    depth: NDArray[np.float64]
    overflowed: NDArray[np.bool_]

class Columns:
    def __init__(self, *, dependency: int = ..., stress: int = ..., reached: int = ..., distance: int = ..., inverse: int = ..., edges: int = ..., depth: int = ..., targets: int = ..., gravity: int = ...) -> None: ...
    dependency: int
    stress: int
    reached: int
    distance: int
    inverse: int
    edges: int
    depth: int
    targets: int
    gravity: int

class _Trips(Generic[Index]):
    def __init__(self, *, numbers: NDArray[np.float64], ends: NDArray[Index], first: NDArray[np.int64], order: NDArray[np.int64], position: NDArray[np.int64], shifts: NDArray[np.int64], targets: NDArray[np.float64]) -> None: ...
    numbers: NDArray[np.float64]
    ends: NDArray[Index]
    first: NDArray[np.int64]
    order: NDArray[np.int64]
    position: NDArray[np.int64]
    shifts: NDArray[np.int64]
    targets: NDArray[np.float64]

Trips32 = _Trips[np.int32]
Trips64 = _Trips[np.int64]

class _Trail(Generic[Index]):
    def __init__(self, *, order: NDArray[Index], dist: NDArray[np.float64], sigma: NDArray[np.float64], tails: NDArray[Index], heads: NDArray[Index], edges: NDArray[np.int64] | None = ..., own: NDArray[np.float64], onward: NDArray[np.float64], class_sizes: NDArray[np.float64] | None = ..., trips: _Trips[Index] | None = ...) -> None: ...
    order: NDArray[Index]
    dist: NDArray[np.float64]
    sigma: NDArray[np.float64]
    tails: NDArray[Index]
    heads: NDArray[Index]
    edges: NDArray[np.int64] | None
    own: NDArray[np.float64]
    onward: NDArray[np.float64]
    class_sizes: NDArray[np.float64] | None
    trips: _Trips[Index] | None

Trail32 = _Trail[np.int32]
Trail64 = _Trail[np.int64]

class _Near(Generic[Index]):
    def __init__(self, *, bounds: NDArray[np.float64], cutoffs: int = ..., weights: NDArray[np.float64], row_of_vertex: NDArray[Index], vertex_of_row: NDArray[Index], vertex_rows: NDArray[Index], vertices: int = ..., row_of_edge: NDArray[np.int64], edge_of_row: NDArray[np.int64], edge_rows: NDArray[np.int64], edges: int = ..., columns: Columns = ..., by_vertex: NDArray[np.float64], by_edge: NDArray[np.float64], by_root: NDArray[np.float64]) -> None: ...
    bounds: NDArray[np.float64]
    cutoffs: int
    weights: NDArray[np.float64]
    row_of_vertex: NDArray[Index]
    vertex_of_row: NDArray[Index]
    vertex_rows: NDArray[Index]
    vertices: int
    row_of_edge: NDArray[np.int64]
    edge_of_row: NDArray[np.int64]
    edge_rows: NDArray[np.int64]
    edges: int
    columns: Columns
    by_vertex: NDArray[np.float64]
    by_edge: NDArray[np.float64]
    by_root: NDArray[np.float64]

Near32 = _Near[np.int32]
Near64 = _Near[np.int64]

class _Search(Generic[Index]):
    def __init__(self, *, dist: NDArray[np.float64], places: NDArray[Index], through: NDArray[np.float64]) -> None: ...
    dist: NDArray[np.float64]
    places: NDArray[Index]
    through: NDArray[np.float64]

Search32 = _Search[np.int32]
Search64 = _Search[np.int64]

class _Heap(Generic[Index]):
    def __init__(self, *, keys: NDArray[np.float64], vertices: NDArray[Index]) -> None: ...
    keys: NDArray[np.float64]
    vertices: NDArray[Index]

Heap32 = _Heap[np.int32]
Heap64 = _Heap[np.int64]

class Buckets:
    def __init__(self, *, last: NDArray[np.uint32], before: NDArray[np.uint32], per_length: float = ...) -> None: ...
    last: NDArray[np.uint32]
    before: NDArray[np.uint32]
    per_length: float
def sweep_hops(graph: Csr32 | Csr64, places: NDArray[np.int32] | NDArray[np.int64], trail: Trail32 | Trail64, asked: Asked, roots: NDArray[np.int64], omega: NDArray[np.float64] | None, times: NDArray[np.float64], sums: Totals | Near32 | Near64, found: Found, /) -> None: ...
def sweep_lengths(graph: Csr32 | Csr64, search: Search32 | Search64, queue: Buckets | Heap32 | Heap64, trail: Trail32 | Trail64, asked: Asked, roots: NDArray[np.int64], omega: NDArray[np.float64] | None, times: NDArray[np.float64], sums: Totals | Near32 | Near64, found: Found, /) -> None: ...
def find_near_tie(graph: Csr32 | Csr64, roots: NDArray[np.int64], most: int, near: float, /) -> tuple[int, int, float, float]: ...
def take_totals(totals: Totals, order: NDArray[np.int64], edge_order: NDArray[np.int64] | None, sums: tuple[NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None, NDArray[np.float64] | None], /) -> None: ...
def clear_totals(totals: Totals, /) -> None: ...

class Ball16:
    def __init__(self, *, rows: int = ..., edges: int = ..., row: NDArray[np.int32], nearest: NDArray[np.float64], queue: NDArray[np.int32], is_queued: NDArray[np.uint8], vertices: NDArray[np.int32], roots: NDArray[np.int64], out_indptr: NDArray[np.int64], out_indices: NDArray[np.int32], out_lengths: NDArray[np.uint16], into_indptr: NDArray[np.int64], into_indices: NDArray[np.int32], into_lengths: NDArray[np.uint16], places: NDArray[np.int64] | None = ..., place_rows: NDArray[np.int64] | None = ..., far: int = ..., dist: NDArray[np.uint16], sigma: NDArray[np.float64] | None = ..., own: NDArray[np.float64], beyond: NDArray[np.float64] | None = ..., waits: NDArray[np.uint8], plain: NDArray[np.uint8], tight: NDArray[np.uint8], totals: NDArray[np.float64]) -> None: ...
    rows: int
    edges: int
    row: NDArray[np.int32]
    nearest: NDArray[np.float64]
    queue: NDArray[np.int32]
    is_queued: NDArray[np.uint8]
    vertices: NDArray[np.int32]
    roots: NDArray[np.int64]
    out_indptr: NDArray[np.int64]
    out_indices: NDArray[np.int32]
    out_lengths: NDArray[np.uint16]
    into_indptr: NDArray[np.int64]
    into_indices: NDArray[np.int32]
    into_lengths: NDArray[np.uint16]
    places: NDArray[np.int64] | None
    place_rows: NDArray[np.int64] | None
    far: int
    dist: NDArray[np.uint16]
    sigma: NDArray[np.float64] | None
    own: NDArray[np.float64]
    beyond: NDArray[np.float64] | None
    waits: NDArray[np.uint8]
    plain: NDArray[np.uint8]
    tight: NDArray[np.uint8]
    totals: NDArray[np.float64]

class BallFloat:
    def __init__(self, *, rows: int = ..., edges: int = ..., row: NDArray[np.int32], nearest: NDArray[np.float64], queue: NDArray[np.int32], is_queued: NDArray[np.uint8], vertices: NDArray[np.int32], roots: NDArray[np.int64], out_indptr: NDArray[np.int64], out_indices: NDArray[np.int32], out_lengths: NDArray[np.float64], into_indptr: NDArray[np.int64], into_indices: NDArray[np.int32], into_lengths: NDArray[np.float64], places: NDArray[np.int64] | None = ..., place_rows: NDArray[np.int64] | None = ..., far: float = ..., dist: NDArray[np.float64], sigma: NDArray[np.float64] | None = ..., own: NDArray[np.float64], beyond: NDArray[np.float64] | None = ..., waits: NDArray[np.uint8], plain: NDArray[np.uint8], tight: NDArray[np.uint8], totals: NDArray[np.float64]) -> None: ...
    rows: int
    edges: int
    row: NDArray[np.int32]
    nearest: NDArray[np.float64]
    queue: NDArray[np.int32]
    is_queued: NDArray[np.uint8]
    vertices: NDArray[np.int32]
    roots: NDArray[np.int64]
    out_indptr: NDArray[np.int64]
    out_indices: NDArray[np.int32]
    out_lengths: NDArray[np.float64]
    into_indptr: NDArray[np.int64]
    into_indices: NDArray[np.int32]
    into_lengths: NDArray[np.float64]
    places: NDArray[np.int64] | None
    place_rows: NDArray[np.int64] | None
    far: float
    dist: NDArray[np.float64]
    sigma: NDArray[np.float64] | None
    own: NDArray[np.float64]
    beyond: NDArray[np.float64] | None
    waits: NDArray[np.uint8]
    plain: NDArray[np.uint8]
    tight: NDArray[np.uint8]
    totals: NDArray[np.float64]
def find_ball(leaving: Csr32 | Csr64, entering: Csr32 | Csr64, roots: NDArray[np.int64], radius: float, most: int, ball: Ball16 | BallFloat, /) -> int: ...
def sum_ball(ball: Ball16 | BallFloat, asked: Asked, first: int, width: int, omega: NDArray[np.float64] | None, times: NDArray[np.float64], near: Near32 | Near64, found: Found, /) -> None: ...
def find_blocks(graph: Csr32 | Csr64, stop: NDArray[np.uint8], /) -> tuple[NDArray[np.int32], NDArray[np.int32]] | tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def find_strong(ptr: NDArray[np.int64], indptr: NDArray[np.int64], indices: NDArray[np.int32] | NDArray[np.int64], stop: NDArray[np.uint8], /) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]] | tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
def condense(indptr: NDArray[np.int64], indices: NDArray[np.int32] | NDArray[np.int64], strong: tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]] | tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], /) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]] | tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
def lay_out(home: NDArray[np.int32] | NDArray[np.int64], attach: NDArray[np.int32] | NDArray[np.int64], /) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]] | tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
def lay_rows(indptr: NDArray[np.int64], indices: NDArray[np.int32] | NDArray[np.int64], copies: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]] | tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], columns: NDArray[np.int32] | NDArray[np.int64], places: NDArray[np.int64] | None, /) -> NDArray[np.int64]: ...
def sum_separated(copies: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]] | tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], sources: NDArray[np.float64], targets: NDArray[np.float64], /) -> NDArray[np.float64]: ...
def spread_along(copies: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]] | tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], strong: tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]] | tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], ends: NDArray[np.int64], heads: NDArray[np.int32] | NDArray[np.int64], rising: bool, weights: NDArray[np.float64], /) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def sum_keys(out: Csr32 | Csr64, into: Csr32 | Csr64, /) -> NDArray[np.uint64]: ...
def join_open(out: Csr32 | Csr64, into: Csr32 | Csr64, keys: NDArray[np.uint64], /) -> NDArray[np.int32] | NDArray[np.int64]: ...
def join_closed(out: Csr32 | Csr64, into: Csr32 | Csr64, keys: NDArray[np.uint64], first: NDArray[np.int32] | NDArray[np.int64], /) -> NDArray[np.bool_]: ...
def take_kept(graph: Csr32 | Csr64, kept: NDArray[np.bool_], position: NDArray[np.int32] | NDArray[np.int64], /) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]] | tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
def pairs_inside(out: Csr32 | Csr64, into: Csr32 | Csr64, first: NDArray[np.int32] | NDArray[np.int64], closed: NDArray[np.bool_], sources: NDArray[np.float64], targets: NDArray[np.float64], class_sizes: NDArray[np.float64], /) -> tuple[NDArray[np.float64], NDArray[np.bool_]]: ...
def walk_chains(graph: Csr32 | Csr64, number: NDArray[np.int64], ends: NDArray[np.int64], lengths: NDArray[np.float64], counts: NDArray[np.int64], inside: NDArray[np.int64], distances: NDArray[np.float64], steps: NDArray[np.int64], /) -> int: ...
def leave_chains(ways: tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], bool, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]], flows: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]], roots: NDArray[np.int64], dist: NDArray[np.int32] | NDArray[np.float64], sigma: NDArray[np.float64], column: NDArray[np.int64], demand: NDArray[np.float64], through: NDArray[np.float64], junction: NDArray[np.float64], stop: NDArray[np.uint8], /) -> bool: ...
def enter_chains(ways: tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], bool, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]], roots: NDArray[np.int64], dist: NDArray[np.int32] | NDArray[np.float64], sigma: NDArray[np.float64], demand: NDArray[np.float64], through: NDArray[np.float64], junction: NDArray[np.float64], stop: NDArray[np.uint8], /) -> bool: ...
def sum_inside(starts: NDArray[np.int64], weights: NDArray[np.float64], sums: NDArray[np.float64], /) -> None: ...
def spread_flows(ways: tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], bool, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]], flows: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]], along: NDArray[np.float64], passed: NDArray[np.float64], edges: NDArray[np.float64], /) -> None: ...
def inspect(indptr: NDArray[np.int64], indices: NDArray[np.int32] | NDArray[np.int64], first: int, last: int, /) -> int: ...
def count_mirrored(indptr: NDArray[np.int64], indices: NDArray[np.int32] | NDArray[np.int64], values: NDArray[np.float64] | None, first: int, last: int, /) -> int: ...
def merge(indptr: NDArray[np.int64], indices: NDArray[np.int32] | NDArray[np.int64], values: NDArray[np.float64] | None, /) -> int: ...
def expand_rows(indptr: NDArray[np.int64], first: int, last: int, rows: NDArray[np.int32] | NDArray[np.int64], /) -> None: ...
def count_ranges(columns: NDArray[np.int32] | NDArray[np.int64], first: int, last: int, shift: int, counts: NDArray[np.int64], /) -> None: ...
def put_under_ranges(entries: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64] | None] | tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64] | None], first: int, last: int, shift: int, places: NDArray[np.int64], put: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64] | None] | tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64] | None], /) -> None: ...
def sort_range(entries: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64] | None] | tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64] | None], first: int, last: int, begin: int, end: int, indptr: NDArray[np.int64], heads: NDArray[np.int32] | NDArray[np.int64], values: NDArray[np.float64] | None, /) -> None: ...
def count_joined(ours: Csr32 | Csr64, theirs: Csr32 | Csr64, first: int, last: int, counts: NDArray[np.int64], /) -> None: ...
def join(ours: Csr32 | Csr64, theirs: Csr32 | Csr64, first: int, last: int, indptr: NDArray[np.int64], indices: NDArray[np.int32] | NDArray[np.int64], values: NDArray[np.float64] | None, /) -> None: ...
def begin_rows(indptr: NDArray[np.int64], order: NDArray[np.int64], /) -> NDArray[np.int64]: ...
def relabel(graph: Csr32 | Csr64, order: NDArray[np.int64], position: NDArray[np.int32] | NDArray[np.int64], first: int, last: int, starts: NDArray[np.int64], tails: NDArray[np.int32] | None | NDArray[np.int64] | None, heads: NDArray[np.int32] | NDArray[np.int64], values: NDArray[np.float64] | None, /) -> None: ...
def find_components(indptr: NDArray[np.int64], indices: NDArray[np.int32] | NDArray[np.int64], /) -> NDArray[np.int32] | NDArray[np.int64]: ...
def search_from(indptr: NDArray[np.int64], indices: NDArray[np.int32] | NDArray[np.int64], roots: NDArray[np.int64], /) -> tuple[NDArray[np.int32], NDArray[np.int32]] | tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def widest_row(indptr: NDArray[np.int64], components: NDArray[np.int32] | None | NDArray[np.int64] | None, /) -> tuple[int, int]: ...
def search_from_hub(indptr: NDArray[np.int64], indices: NDArray[np.int32] | NDArray[np.int64], components: NDArray[np.int32] | None | NDArray[np.int64] | None, /) -> tuple[int, int, int]: ...
def join_searches(indptr: NDArray[np.int64], indices: NDArray[np.int32] | NDArray[np.int64], first: int, last: int, level: int, hubs: int, frontier: NDArray[np.uint16], seen: NDArray[np.uint16], joined: NDArray[np.uint16], distances: NDArray[np.uint8], /) -> bool: ...
def sort_by_key(keys: NDArray[np.uint8] | NDArray[np.int32] | NDArray[np.int64], order: NDArray[np.int64], /) -> NDArray[np.int64]: ...
def order_by_length(indptr: NDArray[np.int64], /) -> NDArray[np.int64]: ...
def places_in(order: NDArray[np.int64], /) -> NDArray[np.int64]: ...
def line_up(lengths: NDArray[np.int64], places: NDArray[np.int64], rows: NDArray[np.int64], /) -> NDArray[np.int64]: ...
def measure_landmarks(indptr: NDArray[np.int64], indices: NDArray[np.int32] | NDArray[np.int64], piece: NDArray[np.int64], vertex: NDArray[np.int32] | NDArray[np.int64], nearest: NDArray[np.int32] | NDArray[np.int64], pieces: int, points: NDArray[np.int32], stop: NDArray[np.uint8], /) -> None: ...
def sort_by_keys(keys: NDArray[np.float64], order: NDArray[np.int64], /) -> None: ...
def bisect(points: NDArray[np.int32], shift: int, order: NDArray[np.int64], first: int, last: int, leaf: int, once: bool, steps: int, /) -> int: ...
def survey(indptr: NDArray[np.int64], indices: NDArray[np.int32] | NDArray[np.int64], lengths: NDArray[np.float64] | None, high: float, degrees: NDArray[np.int64], order: NDArray[np.int64], position: NDArray[np.int64], starts: NDArray[np.int64], heads: NDArray[np.int32] | NDArray[np.int64], values: NDArray[np.float64] | None, /) -> tuple[bool, bool, int, int, float]: ...
def survey_one_way(indptr: NDArray[np.int64], indices: NDArray[np.int32] | NDArray[np.int64], lengths: NDArray[np.float64] | None, high: float, numbers: NDArray[np.int64], heads: NDArray[np.int32] | NDArray[np.int64], values: NDArray[np.float64] | None, /) -> tuple[bool, bool, int, int, float]: ...

class Integers:
    def __init__(self) -> None: ...
    @property
    def count(self) -> int: ...
    def free_slots(self) -> None:
        """Free the table; it is made anew when more come."""
    @property
    def bytes(self) -> int: ...
    @property
    def ids(self) -> NDArray[np.int64]: ...

class Names:
    def __init__(self) -> None: ...
    @property
    def count(self) -> int: ...
    def free_slots(self) -> None:
        """Free the table; it is made anew when more come."""
    @property
    def bytes(self) -> int: ...
    @property
    def offsets(self) -> NDArray[np.int64]: ...
    @property
    def text(self) -> NDArray[np.uint8]: ...
def split_line(text: NDArray[np.uint8], separator: int, glued: bool, /) -> tuple[NDArray[np.int64], int]: ...
def split_lines(text: NDArray[np.uint8], separator: int, columns: int, wanted: NDArray[np.int64], glued: bool, starts: NDArray[np.int64], stops: NDArray[np.int64], lines: NDArray[np.int64], /) -> tuple[int, int, int]: ...
def parse_integers(text: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64], plain: bool, values: NDArray[np.int64], /) -> int: ...
def parse_rows(text: NDArray[np.uint8], /) -> tuple[NDArray[np.int64], NDArray[np.int64], int]: ...
def parse_floats(text: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64], /) -> tuple[NDArray[np.float64], NDArray[np.int64]]: ...
def number_integers(known: Integers, keys: NDArray[np.int64], /) -> NDArray[np.int32]: ...
def number_names(known: Names, tails: tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64] | None, NDArray[np.int32] | None], heads: tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64] | None, NDArray[np.int32] | None], /) -> tuple[NDArray[np.int32], NDArray[np.int32], int]: ...
def join_views(views: NDArray[np.uint8], buffers: NDArray[np.int64], text: NDArray[np.uint8], /) -> None: ...
def find_extremes(weights: NDArray[np.float64], smallest: NDArray[np.float64], largest: NDArray[np.float64], /) -> None: ...
def clear_unreached(dist: NDArray[np.float64] | NDArray[np.float32], sigma: NDArray[np.float64], /) -> None: ...
def turn(columns: NDArray[np.float64], rows: NDArray[np.float64], /) -> None: ...
def turn_back(rows: NDArray[np.float64] | NDArray[np.float32], columns: NDArray[np.float64] | NDArray[np.int32], /) -> None: ...
def add_group_shares(into: Csr32 | Csr64, reached: NDArray[np.int64], dist: NDArray[np.float64], sigma: NDArray[np.float64], is_log: bool, rtol: float, in_group: NDArray[np.bool_], endpoints: bool, shares: NDArray[np.float64], is_passed: NDArray[np.bool_], totals: NDArray[np.float64], /) -> None: ...
