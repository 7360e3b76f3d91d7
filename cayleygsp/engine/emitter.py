"""Writing LLVM code that works on rows of numbers in vector registers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba.core import cgutils

# Bytes of the pieces that a row is walked through in; what is left is done number by number.
_PIECES = (128, 64, 32, 16)

# Flag of operations that may be fused into one.
FUSE = ("contract",)


class Emitter:
    """Writes loads, stores and loops on arrays of one precision."""

    def __init__(self, context: Any, builder: Any, real: Any) -> None:
        self.context, self.builder = context, builder
        self.real = context.get_data_type(real)
        self.itemsize = real.bitwidth // 8
        self.index = ir.IntType(64)

    def array(self, kind: Any, value: Any) -> Any:
        """Return the parts of an array argument."""
        return self.context.make_array(kind)(self.context, self.builder, value)

    def size(self, array: Any, axis: int) -> Any:
        """Return the length of an axis."""
        return self.builder.extract_value(array.shape, axis)

    def at(self, pointer: Any, *terms: Any) -> Any:
        """Return the address of the element whose number is the sum of products in ``terms``."""
        b = self.builder
        total = self.index(0)
        for left, right in terms:
            total = b.add(total, b.mul(left, right))
        return b.gep(pointer, [total])

    def load(self, address: Any, lanes: int) -> Any:
        """Load numbers that stand side by side."""
        vector = ir.VectorType(self.real, lanes)
        return self.builder.load(self.builder.bitcast(address, vector.as_pointer()), align=self.itemsize)

    def store(self, value: Any, address: Any) -> None:
        """Store numbers side by side."""
        self.builder.store(value, self.builder.bitcast(address, value.type.as_pointer()), align=self.itemsize)

    def splat(self, value: Any, lanes: int) -> Any:
        """Return a vector that holds one number in all lanes."""
        vector = ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined)
        first = self.builder.insert_element(vector, value, ir.IntType(32)(0))
        return self._pick(first, vector, [0] * lanes)

    def _pick(self, x: Any, y: Any, lanes: Sequence[int]) -> Any:
        """Return some lanes of two vectors, those of the second numbered after those of the first."""
        mask = ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), list(lanes))
        return self.builder.shuffle_vector(x, y, mask)

    def sums_of(self, vectors: list[Any]) -> Any:
        """Return the sums of the lanes of 1, 2, 4, ... vectors that have no fewer lanes, side by side in one vector."""
        b, count = self.builder, len(vectors)
        while vectors[0].type.count > count:
            lanes = vectors[0].type.count // 2
            low, high = range(lanes), range(lanes, 2 * lanes)
            vectors = [b.fadd(self._pick(v, v, low), self._pick(v, v, high)) for v in vectors]
        evens, odds = range(0, 2 * count, 2), range(1, 2 * count, 2)
        while len(vectors) > 1:
            pairs = zip(vectors[::2], vectors[1::2], strict=True)
            vectors = [b.fadd(self._pick(x, y, evens), self._pick(x, y, odds)) for x, y in pairs]
        return vectors[0]

    def multiply_add(self, x: Any, y: Any, z: Any) -> Any:
        """Return x * y + z."""
        return self.builder.fadd(self.builder.fmul(x, y, flags=FUSE), z, flags=FUSE)

    @contextmanager
    def loop(self, start: Any, stop: Any) -> Iterator[Any]:
        """Emit a loop over whole numbers."""
        with cgutils.for_range_slice(self.builder, start, stop, self.index(1), self.index) as (p, _):
            yield p

    def each_piece(self, width: Any, body: Callable[[Any, int], None]) -> None:
        """Emit ``body(first column, lanes)`` for the pieces that cover all columns."""
        b = self.builder
        column = cgutils.alloca_once_value(b, self.index(0))
        for lanes in [n_bytes // self.itemsize for n_bytes in _PIECES] + [1]:
            with while_loop(b, lambda: b.icmp_unsigned("<=", b.add(b.load(column), self.index(lanes)), width)):  # noqa: B023
                body(b.load(column), lanes)
                b.store(b.add(b.load(column), self.index(lanes)), column)


@contextmanager
def while_loop(builder: Any, condition: Callable[[], Any]) -> Iterator[None]:
    """Emit a loop that goes on as long as the condition, evaluated before each turn, holds."""
    test, body, end = (builder.append_basic_block(name) for name in ("while.test", "while.body", "while.end"))
    builder.branch(test)
    builder.position_at_end(test)
    builder.cbranch(condition(), body, end)
    builder.position_at_end(body)
    yield
    builder.branch(test)
    builder.position_at_end(end)
