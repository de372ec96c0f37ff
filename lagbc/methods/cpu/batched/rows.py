"""Operations on one row of 64 columns under a mask of 64 bits, as single vector instructions of LLVM.

A row is the slice ``values[v, :64]`` of a C-contiguous float64 array, or a value of compiled code, such as a sum over
edges, which stays in registers. Bit k of a mask stands for column k. LLVM turns ``<64 x double>`` into whatever the
processor has (8 AVX-512 registers, 16 AVX ones, ...), without a branch a column: on meshes a loop over the set bits,
two to nine of them, was 5 to 20 % slower than the whole row.

Distances that are whole numbers may be uint16, a quarter of the bytes. Then the largest number is infinity, and sums
end there.
"""

# numba reads the argument names of intrinsics; types are numba's, so annotations would say nothing.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

COLUMNS = 64

_DOUBLE = ir.DoubleType()
_INT16, _INT32, _INT64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
_ROW, _SHORT_ROW = ir.VectorType(_DOUBLE, COLUMNS), ir.VectorType(_INT16, COLUMNS)
_MASK = ir.VectorType(ir.IntType(1), COLUMNS)
_ZEROS = ir.Constant(_ROW, [ir.Constant(_DOUBLE, 0.0)] * COLUMNS)
_ONES = ir.Constant(_ROW, [ir.Constant(_DOUBLE, 1.0)] * COLUMNS)
_INFINITIES = ir.Constant(_ROW, [ir.Constant(_DOUBLE, np.inf)] * COLUMNS)
_SHORT_INFINITIES = ir.Constant(_SHORT_ROW, [ir.Constant(_INT16, 2**16 - 1)] * COLUMNS)
_ALIGNMENT = 8


class Row(types.Type):
    """The type of rows as values."""

    def __init__(self):
        super().__init__(name="Row")


@register_model(Row)
class _RowModel(models.PrimitiveModel):
    """A vector, in registers as far as there are."""

    def __init__(self, manager, numba_type):
        super().__init__(manager, numba_type, _ROW)


_row = Row()


@intrinsic
def count_bits(typingctx, mask):
    """Count the set bits."""
    return types.int64(types.uint64), lambda context, builder, signature, args: builder.ctpop(args[0])


@intrinsic
def zero_row(typingctx):
    """Return a row of zeros."""
    return _row(), lambda context, builder, signature, args: _ZEROS


@intrinsic
def load_row(typingctx, values, v):
    """Return ``values[v]``."""

    def generate(context, builder, signature, args):
        return _load(builder, _row_pointer(context, builder, signature.args[0], args[0], args[1]))

    return _row(values, types.int64), generate


@intrinsic
def store_row(typingctx, values, v, row):
    """Write ``values[v] = row``."""

    def generate(context, builder, signature, args):
        _store(builder, args[2], _row_pointer(context, builder, signature.args[0], args[0], args[1]))

    return types.void(values, types.int64, _row), generate


@intrinsic
def add_row(typingctx, total, values, v, mask):
    """Return ``total + where(mask, values[v], 0)``."""

    def generate(context, builder, signature, args):
        row = _load(builder, _row_pointer(context, builder, signature.args[1], args[1], args[2]))
        return builder.fadd(args[0], builder.select(builder.bitcast(args[3], _MASK), row, _ZEROS))

    return _row(_row, values, types.int64, types.uint64), generate


@intrinsic
def scale_row(typingctx, row, factor):
    """Return ``row * factor``, one number for all columns."""

    def generate(context, builder, signature, args):
        return builder.fmul(args[0], _broadcast(builder, args[1]))

    return _row(_row, types.float64), generate


@intrinsic
def put_row(typingctx, values, v, mask, total, limit):
    """Write ``values[v] = where(mask, total, values[v])``; return the mask bits where ``total > limit``."""

    def generate(context, builder, signature, args):
        into = _row_pointer(context, builder, signature.args[0], args[0], args[1])
        _store(builder, builder.select(builder.bitcast(args[2], _MASK), args[3], _load(builder, into)), into)
        above = builder.fcmp_ordered(">", args[3], _broadcast(builder, args[4]))
        return builder.and_(builder.bitcast(above, _INT64), args[2])

    return types.uint64(values, types.int64, types.uint64, _row, types.float64), generate


@intrinsic
def omega_row(typingctx, omega, v):
    """Return how many targets v stands for: ``omega[v]``, a row of it, or one number for all columns."""

    def generate(context, builder, signature, args):
        if omega.ndim == 2:
            return _load(builder, _row_pointer(context, builder, omega, args[0], args[1]))
        data = context.make_array(omega)(context, builder, args[0]).data
        return _broadcast(builder, builder.load(builder.gep(data, [args[1]])))

    return _row(omega, types.int64), generate


@intrinsic
def finish_row(typingctx, values, v, mask, total, omega, multiplicity):
    """Close a vertex in the backward sweep.

    With sigma = values[v], return ``sum(where(mask, sigma * total * multiplicity, 0))`` and write
    ``values[v] = where(mask, omega / sigma + total, sigma)``. The sum is a fixed binary tree over the columns.
    """

    def generate(context, builder, signature, args):
        into = _row_pointer(context, builder, signature.args[0], args[0], args[1])
        sigma = _load(builder, into)
        return _close(builder, into, sigma, builder.fdiv(args[4], sigma), args[2], args[3], args[5])

    return types.float64(values, types.int64, types.uint64, _row, _row, _row), generate


@intrinsic
def finish_paths_row(typingctx, paths, values, v, mask, total, omega, multiplicity):
    """Close a vertex in the backward sweep that counts paths, before `finish_row`.

    With sigma = values[v], return ``sum(where(mask, sigma * total * multiplicity, 0))`` and write
    ``paths[v] = where(mask, omega + total, paths[v])``. The sum is a fixed binary tree over the columns.
    """

    def generate(context, builder, signature, args):
        into = _row_pointer(context, builder, signature.args[0], args[0], args[2])
        sigma = _load(builder, _row_pointer(context, builder, signature.args[1], args[1], args[2]))
        return _close(builder, into, sigma, args[5], args[3], args[4], args[6])

    return types.float64(paths, values, types.int64, types.uint64, _row, _row, _row), generate


@intrinsic
def relax_row(typingctx, values, v, w, length):
    """Write ``values[w] = minimum(values[v] + length, values[w])``; return the mask of those that became smaller."""

    def generate(context, builder, signature, args):
        near = _load(builder, _row_pointer(context, builder, signature.args[0], args[0], args[1]))
        into = _row_pointer(context, builder, signature.args[0], args[0], args[2])
        through, far = _lengthen(builder, near, args[3]), _load(builder, into)
        smaller = _less(builder, through, far)
        mask = builder.bitcast(smaller, _INT64)
        with builder.if_then(builder.icmp_unsigned("!=", mask, ir.Constant(_INT64, 0))):
            _store(builder, builder.select(smaller, through, far), into)
        return mask

    return types.uint64(values, types.int64, types.int64, types.float64), generate


@intrinsic
def minimum_of_row(typingctx, values, v, mask):
    """Find the smallest of ``values[v]`` under a mask; infinity if there is none."""

    def generate(context, builder, signature, args):
        row = _load(builder, _row_pointer(context, builder, signature.args[0], args[0], args[1]))
        smallest = _tree(builder, builder.select(builder.bitcast(args[2], _MASK), row, _infinities(row)), _smaller)
        if row.type != _SHORT_ROW:
            return smallest
        is_infinite = builder.icmp_unsigned("==", smallest, ir.Constant(_INT16, 2**16 - 1))
        return builder.select(is_infinite, ir.Constant(_DOUBLE, np.inf), builder.uitofp(smallest, _DOUBLE))

    return types.float64(values, types.int64, types.uint64), generate


@intrinsic
def finite_in_row(typingctx, values, v):
    """Return the mask of the columns in which ``values[v]`` is less than infinity."""

    def generate(context, builder, signature, args):
        row = _load(builder, _row_pointer(context, builder, signature.args[0], args[0], args[1]))
        return builder.bitcast(_less(builder, row, _infinities(row)), _INT64)

    return types.uint64(values, types.int64), generate


@intrinsic
def positive_in_row(typingctx, values, v):
    """Return the mask of the columns in which ``values[v]`` is more than zero."""

    def generate(context, builder, signature, args):
        row = _load(builder, _row_pointer(context, builder, signature.args[0], args[0], args[1]))
        return builder.bitcast(builder.fcmp_ordered(">", row, _ZEROS), _INT64)

    return types.uint64(values, types.int64), generate


@intrinsic
def tight_in_row(typingctx, values, v, w, length, rtol):
    """Return the mask of the columns in which an edge leads on a shortest path from v to w.

    With near = values[v] and far = values[w], that is ``near < far`` and ``abs(near + length - far) <= rtol * far``.
    Where v is not reached it is false: infinity is below nothing. Where it is, so is w, once distances are final.
    Distances of type uint16 are compared exactly, whatever `rtol` is.
    """

    def generate(context, builder, signature, args):
        near = _load(builder, _row_pointer(context, builder, signature.args[0], args[0], args[1]))
        far = _load(builder, _row_pointer(context, builder, signature.args[0], args[0], args[2]))
        if near.type == _SHORT_ROW:
            within = builder.icmp_unsigned("==", _lengthen(builder, near, args[3]), far)
            return builder.bitcast(builder.and_(_less(builder, near, far), within), _INT64)
        gap = builder.fsub(_lengthen(builder, near, args[3]), far)
        most = builder.fmul(_broadcast(builder, args[4]), far)
        within = builder.and_(
            builder.fcmp_ordered("<=", gap, most), builder.fcmp_ordered("<=", builder.fneg(most), gap)
        )
        return builder.bitcast(builder.and_(_less(builder, near, far), within), _INT64)

    return types.uint64(values, types.int64, types.int64, types.float64, types.float64), generate


@intrinsic
def dot_rows(typingctx, values, v, w, mask, multiplicity):
    """Return ``sum(where(mask, values[v] * values[w] * multiplicity, 0))``, a fixed binary tree over the columns."""

    def generate(context, builder, signature, args):
        near = _load(builder, _row_pointer(context, builder, signature.args[0], args[0], args[1]))
        far = _load(builder, _row_pointer(context, builder, signature.args[0], args[0], args[2]))
        product = builder.fmul(builder.fmul(near, far), args[4])
        return _tree_sum(builder, builder.select(builder.bitcast(args[3], _MASK), product, _ZEROS))

    return types.float64(values, types.int64, types.int64, types.uint64, _row), generate


@intrinsic
def sum_row(typingctx, values, v, mask):
    """Return ``sum(where(mask, values[v], 0))``, a fixed binary tree over the columns."""
    return types.float64(values, types.int64, types.uint64), _summing(lambda builder, row: row)


@intrinsic
def sum_inverse_row(typingctx, values, v, mask):
    """Return ``sum(where(mask, 1 / values[v], 0))``, a fixed binary tree over the columns."""
    return types.float64(values, types.int64, types.uint64), _summing(lambda builder, row: builder.fdiv(_ONES, row))


@intrinsic
def raise_row(typingctx, largest, values, v, mask):
    """Return ``maximum(where(mask, values[v], 0), largest)``."""

    def generate(context, builder, signature, args):
        row = _load(builder, _row_pointer(context, builder, signature.args[1], args[1], args[2]))
        masked = builder.select(builder.bitcast(args[3], _MASK), row, _ZEROS)
        return builder.select(builder.fcmp_ordered(">", masked, args[0]), masked, args[0])

    return _row(_row, values, types.int64, types.uint64), generate


def _summing(function):
    """Code of the sum over ``function(values[v])`` under a mask."""

    def generate(context, builder, signature, args):
        row = function(builder, _load(builder, _row_pointer(context, builder, signature.args[0], args[0], args[1])))
        return _tree_sum(builder, builder.select(builder.bitcast(args[2], _MASK), row, _ZEROS))

    return generate


def _close(builder, into, sigma, own, mask, total, multiplicity):
    """Write own + total where the mask is; return ``sum(where(mask, sigma * total * multiplicity, 0))``."""
    mask = builder.bitcast(mask, _MASK)
    _store(builder, builder.select(mask, builder.fadd(own, total), _load(builder, into)), into)
    return _tree_sum(builder, builder.select(mask, builder.fmul(builder.fmul(sigma, total), multiplicity), _ZEROS))


def _row_pointer(context, builder, array_type, array, v):
    data = context.make_array(array_type)(context, builder, array).data
    first = builder.gep(data, [builder.mul(v, ir.Constant(_INT64, COLUMNS))])
    return builder.bitcast(first, (_SHORT_ROW if array_type.dtype == types.uint16 else _ROW).as_pointer())


def _load(builder, pointer):
    value = builder.load(pointer)
    value.align = _ALIGNMENT if value.type == _ROW else 2
    return value


def _store(builder, value, pointer):
    builder.store(value, pointer).align = _ALIGNMENT if value.type == _ROW else 2


def _infinities(row):
    return _SHORT_INFINITIES if row.type == _SHORT_ROW else _INFINITIES


def _less(builder, low, high):
    if low.type.element == _INT16:
        return builder.icmp_unsigned("<", low, high)
    return builder.fcmp_ordered("<", low, high)


def _lengthen(builder, row, length):
    """Add a length, a double, to all distances of a row."""
    if row.type != _SHORT_ROW:
        return builder.fadd(row, _broadcast(builder, length))
    total = builder.add(row, _broadcast(builder, builder.fptoui(length, _INT16)))
    return builder.select(builder.icmp_unsigned("<", total, row), _SHORT_INFINITIES, total)


def _broadcast(builder, scalar):
    row = ir.VectorType(scalar.type, COLUMNS)
    first = builder.insert_element(ir.Constant(row, ir.Undefined), scalar, ir.Constant(_INT32, 0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(_INT32, COLUMNS), [0] * COLUMNS))


def _tree_sum(builder, row):
    return _tree(builder, row, lambda builder, low, high: builder.fadd(low, high))


def _smaller(builder, low, high):
    return builder.select(_less(builder, low, high), low, high)


def _tree(builder, row, combine):
    """Combine the two halves of a row, then the halves of the result, down to one number."""
    width = COLUMNS
    while width > 1:
        width //= 2
        halves = [ir.Constant(ir.VectorType(_INT32, width), list(range(i, i + width))) for i in (0, width)]
        row = combine(builder, *(builder.shuffle_vector(row, row, half) for half in halves))
    return builder.extract_element(row, ir.Constant(_INT32, 0))
