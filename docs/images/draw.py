"""Draw the pictures of docs/: `python docs/images/draw.py` writes architecture.png, batched.png and reductions.png."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Rectangle

HERE = Path(__file__).parent
DPI = 120
INK, GREY, PALE, RULE = "#1f2933", "#616e7c", "#f4f6f8", "#cbd2d9"
BLUE, LIGHT_BLUE, ORANGE, LIGHT_ORANGE = "#2b6cb0", "#d6e6f5", "#c05621", "#fbe3d0"
FONTS = {"font.family": "DejaVu Sans", "font.size": 11, "text.color": INK}
CODE = "DejaVu Sans Mono"


def canvas(width: float, height: float) -> tuple[Figure, Any]:
    """Return a figure, in inches, and axes over all of it in the same units."""
    figure = Figure(figsize=(width, height), dpi=DPI)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(0, height))
    axes.set_axis_off()
    return figure, axes


def save(figure: Figure, name: str) -> None:
    """Write a picture without the version and date of the program that drew it."""
    figure.savefig(HERE / name, metadata={"Software": None})


def arrow(axes: Any, start: tuple[float, float], end: tuple[float, float], color: str, width: float = 2) -> None:
    """Draw an arrow."""
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=14, color=color, lw=width))


# ---- The floors of the house

# A floor: its rooms, each with its folder, what it does and its files; what a call is when it leaves the floor, and
# what comes up to it.
FLOORS = (
    (
        (
            ("interfaces", "commands, and NetworkX's functions", "cli/   networkx.py"),
            ("estimates   comparison   plots", "bounds, methods, pictures", "estimate.py   compare.py"),
        ),
        "arguments",
        "scores",
    ),
    (
        (
            (
                "api",
                "the public functions: their signatures and what they promise",
                "betweenness.py   distances.py   together.py",
            ),
        ),
        "a record, Arguments and Options",
        "scores",
    ),
    (
        (
            ("centrality   call.py", "one way for all of them", "compute.py   searches.py   parts.py"),
            ("scores", "sums into scores", "records.py   finish.py"),
        ),
        "a Call: a Request, pieces and a Plan, as data",
        "sums of the whole graph",
    ),
    (
        (
            ("run", "the one loop over works, carriers, the file", "run.py   work.py   partial.py"),
            ("grid", "a graph over ranks, its carrier", "run.py   deal.py   grids.py"),
        ),
        "pieces, and their sweeps",
        "sums of each piece",
    ),
    (
        (
            ("planning", "how, as data", "plan.py   choose.py"),
            ("reduce", "pieces, and the way back", "weighted.py   pieces.py"),
            ("request.py", "arguments, checked", "options.py   demand.py"),
        ),
        "batches of roots",
        "sums of panels of roots",
    ),
    (
        (
            (
                "methods",
                "the sweeps: forward from the roots, and backward",
                "contract.py   table.py   cpu/   gpu/",
            ),
        ),
        "the graph of a sweep",
        "ordered arrays, compiled kernels",
    ),
    (
        (
            ("graph", "checked, ordered", "validate.py   device/"),
            ("io", "files into matrices", "read.py   formats/"),
            ("native   cuda", "kernels", "kernels/   kernel.py"),
        ),
        "",
        "",
    ),
)


def draw_room(axes: Any, x: float, y: float, size: tuple[float, float], texts: tuple[str, str, str]) -> None:
    """Draw a folder: its name, what it does, and its files."""
    wide, tall = size
    outline = "round,pad=0,rounding_size=0.08"
    axes.add_patch(FancyBboxPatch((x, y), wide, tall, boxstyle=outline, facecolor=PALE, edgecolor=RULE, lw=1.2))
    name, says, holds = texts
    axes.text(x + 0.2, y + tall - 0.25, name, family=CODE, weight="bold", size=12.5, va="center")
    axes.text(x + 0.2, y + tall / 2 - 0.02, says, va="center")
    axes.text(x + 0.2, y + 0.18, holds, family=CODE, size=9, color=GREY, va="center")


def draw_architecture() -> None:
    """Folders as floors; on the left a call goes down, on the right the sums come up."""
    tall, gap, left, wide, between = 0.92, 0.5, 0.1, 7.4, 0.15
    top = len(FLOORS) * (tall + gap) - gap + 0.1
    figure, axes = canvas(wide + 2 * left, top + 0.4)
    axes.text(left + 0.1, top + 0.2, "a call goes down once", color=BLUE, va="center", weight="bold")
    head = "the sums come up once"
    axes.text(left + wide - 0.1, top + 0.2, head, color=ORANGE, ha="right", va="center", weight="bold")
    down, up = left + 0.6, left + wide - 0.6
    for i, (rooms, handed_down, handed_up) in enumerate(FLOORS):
        y = top - i * (tall + gap) - tall
        room = (wide - between * (len(rooms) - 1)) / len(rooms)
        for j, texts in enumerate(rooms):
            draw_room(axes, left + j * (room + between), y, (room, tall), texts)
        if handed_down:
            arrow(axes, (down, y), (down, y - gap), BLUE)
            axes.text(down + 0.14, y - gap / 2, handed_down, color=BLUE, va="center")
            arrow(axes, (up, y - gap), (up, y), ORANGE)
            axes.text(up - 0.14, y - gap / 2, handed_up, color=ORANGE, ha="right", va="center")
    save(figure, "architecture.png")


# ---- One row of the batched method

EDGES = (0, 1), (0, 4), (1, 4), (1, 5), (2, 5), (2, 6), (3, 4), (3, 6), (3, 7), (4, 7), (5, 7), (6, 7)
PLACES = ((0.0, 2.0), (0.6, 2.75), (2.5, 2.75), (0.4, 0.25), (0.55, 1.35), (1.55, 2.2), (2.5, 0.8), (1.6, 1.2))
ROOTS, LEVEL, ROW = (0, 1, 2, 3), 1, 7
CELL = 0.34


def neighbours(vertex: int) -> list[int]:
    """Neighbours in the picture's graph, ascending."""
    return sorted(b if a == vertex else a for a, b in EDGES if vertex in (a, b))


def search(root: int) -> tuple[list[int], list[int]]:
    """Hop distance of each vertex from a root, and its number of shortest paths."""
    distance, paths, queue = [-1] * len(PLACES), [0] * len(PLACES), deque([root])
    distance[root], paths[root] = 0, 1
    while queue:
        u = queue.popleft()
        for v in neighbours(u):
            if distance[v] < 0:
                distance[v] = distance[u] + 1
                queue.append(v)
            if distance[v] == distance[u] + 1:
                paths[v] += paths[u]
    return distance, paths


def draw_bits(axes: Any, x: float, y: float, bits: Any, color: str) -> None:
    """Draw a row of bits, squares that are filled where a bit is set."""
    for k, bit in enumerate(bits):
        face = color if bit else "white"
        axes.add_patch(Rectangle((x + k * CELL, y), CELL, CELL, facecolor=face, edgecolor=RULE, lw=1))


def draw_values(axes: Any, x: float, y: float, values: Any, shown: Any, color: str, fill: str) -> None:
    """Draw a row of numbers; those that are not `shown` are left empty."""
    for k, (value, is_shown) in enumerate(zip(values, shown, strict=True)):
        face = fill if is_shown else "white"
        axes.add_patch(Rectangle((x + k * CELL, y), CELL, CELL, facecolor=face, edgecolor=RULE, lw=1))
        if is_shown:
            axes.text(x + (k + 0.5) * CELL, y + CELL / 2, str(value), color=color, ha="center", va="center")


def draw_graph(axes: Any, x: float, y: float, frontier: Any) -> None:
    """Draw the graph: frontier blue, the row that pulls orange."""
    for a, b in EDGES:
        (xa, ya), (xb, yb) = PLACES[a], PLACES[b]
        is_pulled = ROW in (a, b)
        color, width = (ORANGE, 2.2) if is_pulled else (RULE, 1.5)
        axes.plot([x + xa, x + xb], [y + ya, y + yb], color=color, lw=width, zorder=1)
    for v, (xv, yv) in enumerate(PLACES):
        face = LIGHT_ORANGE if v == ROW else LIGHT_BLUE if frontier[v].any() else "white"
        edge = ORANGE if v == ROW else BLUE if frontier[v].any() else GREY
        axes.add_patch(Circle((x + xv, y + yv), 0.2, facecolor=face, edgecolor=edge, lw=1.6, zorder=2))
        axes.text(x + xv, y + yv, str(v), ha="center", va="center", zorder=3, weight="bold" if v in ROOTS else None)


def draw_matrix(axes: Any, x: float, y: float, frontier: Any) -> None:
    """Draw the frontier, a row a vertex, a column a root."""
    for v, row in enumerate(frontier):
        at = y - (v + 1) * CELL
        draw_bits(axes, x, at, row, BLUE)
        axes.text(x - 0.16, at + CELL / 2, str(v), color=GREY, ha="center", va="center")
    for k, root in enumerate(ROOTS):
        axes.text(x + (k + 0.5) * CELL, y + 0.15, str(root), color=GREY, ha="center", va="center")


def draw_row(axes: Any, x: float, y: float, frontier: Any, wanted: Any, paths: Any) -> None:
    """Draw, edge by edge, what row ROW reads: a word of bits each, and numbers only where the bits meet."""
    step, columns = CELL + 0.16, (x + 0.62, x + 2.4, x + 4.2)
    total = np.zeros(len(ROOTS), int)
    draw_bits(axes, columns[1], y - CELL, wanted, GREY)
    axes.text(columns[1] - 0.12, y - CELL / 2, "wanted", ha="right", va="center")
    says = f"roots from which {ROW}\nis not reached yet"
    axes.text(columns[1] + 4 * CELL + 0.15, y - CELL / 2, says, color=GREY, va="center")
    for column, head in zip(columns, ("frontier", "and wanted", "paths"), strict=True):
        axes.text(column + 2 * CELL, y - CELL - 0.24, head, color=GREY, ha="center", va="center")
    for i, u in enumerate(neighbours(ROW)):
        at, meet = y - CELL - 0.3 - (i + 1) * step, frontier[u] & wanted
        axes.text(x, at + CELL / 2, f"u = {u}", va="center", ha="left")
        draw_bits(axes, columns[0], at, frontier[u], BLUE)
        draw_bits(axes, columns[1], at, meet, ORANGE)
        arrow(axes, (columns[0] + 4 * CELL + 0.06, at + CELL / 2), (columns[1] - 0.06, at + CELL / 2), GREY, 1)
        if not meet.any():
            axes.text(columns[1] + 4 * CELL + 0.15, at + CELL / 2, "nothing is read", color=GREY, va="center")
            continue
        arrow(axes, (columns[1] + 4 * CELL + 0.06, at + CELL / 2), (columns[2] - 0.06, at + CELL / 2), ORANGE, 1.6)
        draw_values(axes, columns[2], at, paths[u], meet, INK, LIGHT_ORANGE)
        total += np.where(meet, paths[u], 0)
    at = y - CELL - 0.45 - (len(neighbours(ROW)) + 1) * step
    axes.plot([columns[2], columns[2] + 4 * CELL], [at + CELL + 0.08] * 2, color=INK, lw=1.2)
    draw_values(axes, columns[2], at, total, wanted, ORANGE, "white")
    axes.text(columns[2] - 0.15, at + CELL / 2, f"the sum: shortest paths to vertex {ROW}", ha="right", va="center")
    assert (total == np.where(wanted, paths[ROW], 0)).all(), "what is drawn is what is computed"


def draw_batched() -> None:
    """One row of the masked product: vertices are rows, roots are columns."""
    found = [search(root) for root in ROOTS]
    distance, paths = (np.array(part).T for part in zip(*found, strict=True))
    frontier, wanted = distance == LEVEL, (distance > LEVEL)[ROW]
    figure, axes = canvas(10.9, 4.5)
    head = 4.25
    for x, title, says in (
        (0.2, "1  The graph", "roots 0 to 3; blue: one hop\nfrom some root"),
        (3.25, "2  Frontier, in bits", "a row a vertex,\na column a root"),
        (5.2, f"3  Vertex {ROW} pulls", "an edge costs one AND of bits; numbers are read\nonly where bits meet"),
    ):
        axes.text(x, head, title, weight="bold", va="center")
        axes.text(x, head - 0.22, says, va="top", color=GREY)
    draw_graph(axes, 0.4, 0.2, frontier)
    draw_matrix(axes, 3.55, 3.1, frontier)
    draw_row(axes, 5.2, 3.42, frontier, wanted, paths)
    save(figure, "batched.png")


# ---- What need not be swept

# A graph of two large blocks, which share vertex c, and of single edges that hang on q and j. The left block has the
# twins t, u and v, the right one chains between its junctions.
TWINS = ("t", "u", "v")
LEFT = ["pt", "pu", "pv", "qt", "qu", "qv", "pe", "eq", "ec", "cq"]
CHAINS = ("cghj", "cik", "cm", "mj", "mnk", "jxyk")
RIGHT = [a + b for chain in CHAINS for a, b in pairwise(chain)]
SINGLE = ["qr", "qs", "jw", "wz"]
AT = {
    **{"p": (0.85, 1.95), "q": (0.85, 0.3), "t": (0.0, 1.15), "u": (0.42, 1.15), "v": (0.85, 1.15)},
    **{"e": (1.4, 1.5), "c": (2.0, 1.05), "r": (0.2, 0.05), "s": (0.5, -0.35)},
    **{"g": (2.5, 1.6), "h": (3.2, 1.9), "j": (3.95, 1.85), "i": (2.85, 0.35), "k": (3.9, 0.1)},
    **{"m": (3.05, 1.05), "n": (3.5, 0.6), "x": (4.4, 1.3), "y": (4.4, 0.65), "w": (4.5, 2.1), "z": (5.0, 1.85)},
}
ENDS = "".join(dict.fromkeys("".join(chain[0] + chain[-1] for chain in CHAINS)))


def stands_for(vertex: str, block: list[str]) -> int:
    """How many vertices a vertex of a block stands for: those reached from it without an edge of the block."""
    edges = [edge for edge in (*LEFT, *RIGHT, *SINGLE) if edge not in block]
    reached = {vertex}
    for _ in edges:
        reached |= {end for edge in edges if reached & set(edge) for end in edge}
    return len(reached)


def draw_edges(axes: Any, at: Any, edges: list[str], color: str = GREY, width: float = 1.6) -> None:
    """Draw edges, straight."""
    for a, b in edges:
        axes.plot(*zip(at(a), at(b), strict=True), color=color, lw=width, zorder=1)


def draw_vertex(axes: Any, at: tuple[float, float], says: str, color: str, fill: str) -> None:
    """Draw a vertex with a number in it, or small and without one."""
    axes.add_patch(Circle(at, 0.17 if says else 0.1, facecolor=fill, edgecolor=color, lw=1.6, zorder=2))
    axes.text(*at, says, ha="center", va="center", zorder=3, size=9.5, weight="bold")


def draw_block(axes: Any, at: Any, block: list[str], shown: str) -> None:
    """Draw vertices of a block; those that stand for others are orange, with their number."""
    for v in shown:
        count = stands_for(v, block)
        color, fill = (ORANGE, LIGHT_ORANGE) if count > 1 else (GREY, "white")
        draw_vertex(axes, at(v), str(count) if count > 1 else "", color, fill)


def draw_reductions() -> None:
    """Draw a graph, its blocks, one of them without its twins, the other contracted to its junctions."""
    figure, axes = canvas(9.6, 6.3)
    corners = (0.2, 6.1), (5.1, 6.1), (0.2, 2.85), (5.1, 2.85)
    texts = (
        ("1  The graph", "20 vertices; without an orange one,", "a cut vertex, it falls apart"),
        (
            "2  Its blocks",
            "a number: how many vertices this one stands for",
            "as an end of paths; single edges need no search",
        ),
        (
            "3  The left block without twins",
            "blue: three vertices with the same neighbours",
            "are one, which paths meet in 3 ways",
        ),
        (
            "4  The right block, contracted",
            "blue: junctions; searches begin at these 4 only;",
            "a number at an edge: the length of a chain",
        ),
    )
    for (x, y), (title, *says) in zip(corners, texts, strict=True):
        axes.text(x, y, title, weight="bold", va="center")
        axes.text(x, y - 0.2, "\n".join(says), va="top", color=GREY)

    def place(panel: int, dx: float, dy: float = 0.0) -> Any:
        x, y = corners[panel]
        return lambda v: (x + 0.85 * AT[v][0] + dx, y - 2.65 + 0.9 * AT[v][1] + dy)

    at = place(0, 0.1)
    draw_edges(axes, at, [*LEFT, *RIGHT, *SINGLE])
    for v in AT:
        is_cut = sum(v in "".join(block) for block in (LEFT, RIGHT, *([edge] for edge in SINGLE))) > 1
        draw_vertex(axes, at(v), "", *((ORANGE, ORANGE) if is_cut else (GREY, "white")))
    left, right = place(1, 0.1), place(1, 0.65)
    for at, block in ((left, LEFT), (right, RIGHT)):
        draw_edges(axes, at, block)
        draw_block(axes, at, block, "".join(v for v in AT if v in "".join(block)))
    at = place(2, 0.9, 0.05)
    draw_edges(axes, at, [edge for edge in LEFT if edge[1] not in TWINS[::2]])
    draw_block(axes, at, LEFT, "pqec")
    draw_vertex(axes, at("u"), f"\u00d7{len(TWINS)}", BLUE, LIGHT_BLUE)
    at = place(3, -0.4, 0.05)
    for chain in CHAINS:
        a, b = chain[0], chain[-1]
        draw_edges(axes, at, [a + b], BLUE, 2)
        middle = np.add(at(a), at(b)) / 2
        box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"}
        axes.text(*middle, str(len(chain) - 1), color=BLUE, ha="center", va="center", bbox=box, zorder=2)
    for v in ENDS:
        count = stands_for(v, RIGHT)
        draw_vertex(axes, at(v), str(count) if count > 1 else "", BLUE, LIGHT_BLUE)
    save(figure, "reductions.png")


if __name__ == "__main__":
    with matplotlib.rc_context(FONTS):
        draw_architecture()
        draw_batched()
        draw_reductions()
