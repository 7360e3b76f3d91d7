"""An order in which a symmetric sparse matrix is eliminated with few new entries, and how many there are."""

from __future__ import annotations

import numpy as np

from cayleygsp._typing import IntArray
from cayleygsp.engine.compiling import compiled

# What is left of a graph in which some vertices have been eliminated: a vertex has neighbours and elements that it
# belongs to. Eliminating a vertex makes an element of its neighbours, with the number of the vertex; it swallows the
# elements that the vertex belonged to. All that is known of a vertex, and of the element with its number, stands in a
# row of numbers: where its neighbours start and how many they are (its elements start as many places later as it has
# vertices before it), how many elements it has;
_FIRST, _N_NEAR, _N_ELEMENTS = 0, 1, 2
# where the members of the element start and how many they are, whether it is part of another, how many members it has
# that the newest does not have, and in which step that was counted;
_M_FIRST, _M_SIZE, _SWALLOWED, _OUTSIDE, _STAMP = 3, 4, 5, 6, 7
# whether the vertex was eliminated, in which step it became a member of an element, and a bound of its degree;
_GONE, _MARK, _DEGREE = 8, 9, 10
# the first vertex whose degree is the number of the row, and the vertices after and before this one in such a list.
_HEAD, _FOLLOWING, _BEFORE = 11, 12, 13


@compiled(error_model="numpy")
def minimum_degree(
    indptr: IntArray, indices: IntArray, max_work: float, max_entries: float
) -> tuple[IntArray, IntArray, float]:
    r"""Return an approximate minimum degree order, the lengths of the factor's columns in it, and the work.

    Degrees are bounded as by Amestoy, Davis and Duff (1996); the lengths are exact for the order that is returned. The
    pattern of a symmetric matrix is given by rows; entries on the diagonal do not matter. Lengths are the entries of
    each column of the factor below its diagonal, and the work is the sum of their squares.

    The ordering stops when the work or the sum of the lengths must be expected to exceed their limits, as the vertices
    that are left have about the least degree at least: then the order is incomplete, with lengths of 0, and the work
    infinite.
    """
    n = indptr.size - 1
    v, neighbours, elements = _whole_graph(indptr, indices)
    members = np.empty(4 * neighbours.size + 4 * n + 16, np.int64)  # of all elements, one after the other
    order, lengths = np.full(n, -1, np.int64), np.zeros(n, np.int64)
    # not plain zeros, for which what is called in the loop would be compiled once more
    k, lowest, used = np.int64(0), np.int64(0), np.int64(0)
    work, entries, effort = 0.0, 0.0, 0.0
    while k < n:
        while v[lowest, _HEAD] < 0:
            lowest += 1
        p, step, start = v[lowest, _HEAD], k, used
        members, used = _eliminate(v, neighbours, elements, p, step, members, used)
        size = used - start
        order[k] = p
        k += 1
        _count_outside(v, elements, members, start, used, step)
        n_kept, k, scanned = _update_members(v, neighbours, elements, p, step, members, start, used, order, k)
        for j in range(step, k):
            lengths[j] = size - (j - step)
            entries += lengths[j]
            work += float(lengths[j]) ** 2
        used = start + n_kept
        v[p, _M_FIRST], v[p, _M_SIZE] = start, n_kept
        for t in range(start, used):
            i = members[t]
            v[i, _DEGREE] = max(min(v[i, _DEGREE] - (k - step - 1), n - k - 1), 0)
            _link(i, v)
            lowest = min(lowest, v[i, _DEGREE])
        effort += scanned
        left, least = float(n - k), float(min(size, n - k))
        expected = max(work + left * least**2 / 3, effort)
        if expected > max_work or entries + left * least / 2 > max_entries:
            return order, lengths, np.inf
    return order, lengths, work


@compiled(error_model="numpy")
def _eliminate(
    v: IntArray, neighbours: IntArray, elements: IntArray, p: int, step: int, members: IntArray, used: int
) -> tuple[IntArray, int]:
    """Write the members of the new element behind the others; return them all, and where they end."""
    _unlink(p, v)
    v[p, _GONE] = 1
    v[p, _MARK] = step
    room = v[p, _N_NEAR]
    first = v[p, _FIRST] + p
    for t in range(first, first + v[p, _N_ELEMENTS]):
        room += v[elements[t], _M_SIZE]
    if used + room > members.size:
        larger = np.empty(2 * members.size + room, np.int64)
        for t in range(used):  # assigning slices takes seconds to compile
            larger[t] = members[t]
        members = larger
    for t in range(v[p, _FIRST], v[p, _FIRST] + v[p, _N_NEAR]):
        i = neighbours[t]
        if not v[i, _GONE] and v[i, _MARK] != step:
            v[i, _MARK] = step
            members[used] = i
            used += 1
    for t in range(first, first + v[p, _N_ELEMENTS]):
        e = elements[t]
        if v[e, _SWALLOWED]:
            continue
        for s in range(v[e, _M_FIRST], v[e, _M_FIRST] + v[e, _M_SIZE]):
            i = members[s]
            if not v[i, _GONE] and v[i, _MARK] != step:
                v[i, _MARK] = step
                members[used] = i
                used += 1
        v[e, _SWALLOWED] = 1
    return members, used


@compiled(error_model="numpy")
def _count_outside(v: IntArray, elements: IntArray, members: IntArray, start: int, used: int, step: int) -> None:
    """Count how many members of the other elements are not in the new one."""
    for t in range(start, used):
        i = members[t]
        for s in range(v[i, _FIRST] + i, v[i, _FIRST] + i + v[i, _N_ELEMENTS]):
            e = elements[s]
            if v[e, _SWALLOWED]:
                continue
            if v[e, _STAMP] != step:
                v[e, _STAMP], v[e, _OUTSIDE] = step, v[e, _M_SIZE]
            v[e, _OUTSIDE] -= 1


@compiled(error_model="numpy")
def _update_members(
    v: IntArray,
    neighbours: IntArray,
    elements: IntArray,
    p: int,
    step: int,
    members: IntArray,
    start: int,
    used: int,
    order: IntArray,
    k: int,
) -> tuple[int, int, float]:
    """Take what the new element covers from the lists of its members, and eliminate those that have nothing else left.

    Return how many members are left, how many vertices have been eliminated, and how much was looked at.
    """
    size, n_kept, scanned = used - start, 0, 0.0
    for t in range(start, used):
        i = members[t]
        _unlink(i, v)
        first, left, bound = v[i, _FIRST] + i, 0, 0
        scanned += v[i, _N_NEAR] + v[i, _N_ELEMENTS]
        for s in range(first, first + v[i, _N_ELEMENTS]):
            e = elements[s]
            if v[e, _SWALLOWED]:
                continue
            if v[e, _OUTSIDE] == 0:  # all of it is in the new one
                v[e, _SWALLOWED] = 1
                continue
            elements[first + left] = e
            left += 1
            bound += v[e, _OUTSIDE]
        near = 0
        for s in range(v[i, _FIRST], v[i, _FIRST] + v[i, _N_NEAR]):
            j = neighbours[s]
            if v[j, _MARK] != step and not v[j, _GONE]:
                neighbours[v[i, _FIRST] + near] = j
                near += 1
        v[i, _N_NEAR], v[i, _N_ELEMENTS] = near, left + 1
        if left == 0 and near == 0:
            v[i, _GONE] = 1
            order[k] = i
            k += 1
            continue
        elements[first + left] = p
        v[i, _DEGREE] = min(v[i, _DEGREE] + size - 1, near + size - 1 + bound)
        members[start + n_kept] = i
        n_kept += 1
    return n_kept, k, scanned


@compiled(error_model="numpy")
def _whole_graph(indptr: IntArray, indices: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return vertices, neighbours and room for elements before anything is eliminated, without the diagonal."""
    n = indptr.size - 1
    neighbours = np.empty(indices.size, np.int64)
    v = np.zeros((n + 1, _BEFORE + 1), np.int64)
    used = 0
    for i in range(n):
        v[i, _FIRST] = used
        for t in range(indptr[i], indptr[i + 1]):
            if indices[t] != i:
                neighbours[used] = indices[t]
                used += 1
        v[i, _N_NEAR] = v[i, _DEGREE] = used - v[i, _FIRST]
    for i in range(n + 1):
        v[i, _MARK] = v[i, _STAMP] = v[i, _HEAD] = -1
    for i in range(n - 1, -1, -1):
        _link(i, v)
    return v, neighbours, np.empty(used + n + 1, np.int64)


@compiled(error_model="numpy")
def _link(i: int, v: IntArray) -> None:
    """Put a vertex into the list of its degree."""
    d = v[i, _DEGREE]
    v[i, _FOLLOWING], v[i, _BEFORE] = v[d, _HEAD], -1
    if v[d, _HEAD] >= 0:
        v[v[d, _HEAD], _BEFORE] = i
    v[d, _HEAD] = i


@compiled(error_model="numpy")
def _unlink(i: int, v: IntArray) -> None:
    """Take a vertex out of the list of its degree."""
    if v[i, _BEFORE] >= 0:
        v[v[i, _BEFORE], _FOLLOWING] = v[i, _FOLLOWING]
    else:
        v[v[i, _DEGREE], _HEAD] = v[i, _FOLLOWING]
    if v[i, _FOLLOWING] >= 0:
        v[v[i, _FOLLOWING], _BEFORE] = v[i, _BEFORE]
