"""One thread for the dense products inside sparse factorisations."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest

import cayleygsp as cg
from cayleygsp.engine import blas
from cayleygsp.methods import solvers


class Library:
    """A library that notes how many threads it was given."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads

    def get(self) -> int:
        return self.n_threads

    def set(self, n_threads: int) -> None:
        self.n_threads = n_threads


@pytest.fixture
def library(monkeypatch):
    library = Library(4)
    monkeypatch.setattr(blas, "blas_threads", lambda: blas.Threads(library.get, library.set))
    return library


def test_threads_come_back_after_the_last_block_also_after_an_error(library):
    def fail():
        with blas.one_blas_thread():
            assert library.n_threads == 1
            with blas.one_blas_thread():
                pass
            assert library.n_threads == 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert library.n_threads == 4


def test_blocks_of_several_threads_at_a_time_give_the_threads_back(library):
    def enter(_):
        with blas.one_blas_thread():
            assert library.n_threads == 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(enter, range(400)))
    assert library.n_threads == 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forked processes")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_that_is_forked_beside_a_thread_with_the_lock_does_not_wait_for_it(monkeypatch):
    inside, leave = Event(), Event()

    def get():
        inside.set()  # the lock is held here
        leave.wait(10)
        return 4

    monkeypatch.setattr(blas, "blas_threads", lambda: blas.Threads(get, lambda n_threads: None))

    def enter():
        with blas.one_blas_thread():
            pass

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(enter)
        assert inside.wait(10)
        child = os.fork()
        if child == 0:
            signal.alarm(5)
            blas.blas_threads = lambda: blas.Threads(lambda: 4, lambda n_threads: None)
            enter()
            os._exit(0)
        leave.set()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        future.result()


def test_factorisations_and_their_solves_have_one_thread(library, monkeypatch):
    seen = []
    made = solvers.splu

    class Solver:
        def __init__(self, *args, **options):
            seen.append(library.n_threads)
            self.factors = made(*args, **options)

        def solve(self, y):
            seen.append(library.n_threads)
            return self.factors.solve(y)

    monkeypatch.setattr(solvers, "splu", Solver)
    L = cg.laplacian(cg.gallery.ring(12))
    y = np.ones((12, 1), complex)
    np.testing.assert_allclose(solvers.Factors(L, 2.0, 1j).solve(y, np.zeros(1))[0], y / 1j)
    assert seen == [1, 1]
    assert library.n_threads == 4


def test_scipys_library_takes_the_number():
    threads = blas.blas_threads()
    if threads is None:
        pytest.skip("scipy has another library than OpenBLAS")
    before = threads.get()
    with blas.one_blas_thread():
        assert threads.get() == 1
    assert threads.get() == before


def test_without_such_a_library_nothing_is_done(monkeypatch):
    threads = blas.blas_threads()
    before = threads and threads.get()
    monkeypatch.setattr(blas, "blas_threads", lambda: None)
    with blas.one_blas_thread():
        assert (threads and threads.get()) == before
