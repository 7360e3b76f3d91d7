import os
import signal
import subprocess
import sys
import threading
import time

import numba
import numpy as np
import pytest

import cayleygsp as cg
from cayleygsp.engine import threads
from cayleygsp.engine.jacobi import JacobiSweeps
from cayleygsp.engine.packed import KernelGraph, prepare_graph
from cayleygsp.engine.recurrence import recurrence_dots, sum_series, sum_series_adjoint
from cayleygsp.engine.threads import (
    DISMISSED,
    FINISHED,
    GO_ON,
    LEAVE,
    MORE,
    SIGNAL,
    STOPPED,
    WAIT,
    claim,
    finish,
    new_board,
)


@pytest.fixture
def all_share(monkeypatch):
    """Let even small work be shared by four threads, on any machine, busy or not."""
    monkeypatch.setattr(threads, "thread_limit", lambda: 4)
    monkeypatch.setattr(threads, "_NUMBERS_PER_THREAD", 1)
    monkeypatch.setattr(threads, "_NUMBERS_TO_SHARE", 0)
    monkeypatch.setattr(threads, "_MOST_CREDIT", np.inf)
    monkeypatch.setattr(threads.HELPERS, "credit", np.inf)
    monkeypatch.setattr(threads.HELPERS, "rest_until", 0.0)


def in_chunks(L, dtype, n_chunks):
    """Return a packed graph that is cut into many chunks."""
    graph = prepare_graph(L.matrix, dtype)
    chunks = np.unique(np.linspace(0, L.n_vertices, n_chunks + 1).astype(np.uint64))
    return KernelGraph(graph.arrays, chunks, graph.order, graph.scattered)


def everything(graph, L, dtype, width):
    """Return what all loops give for some signals."""
    rng = np.random.default_rng(0)
    coeffs = rng.standard_normal((2, 40))
    f = rng.standard_normal((2, L.n_vertices, width)).astype(dtype)
    y = np.ascontiguousarray(f[0] + 1j * f[1])
    sweeps = JacobiSweeps(graph, 0.3, L.diagonal)
    b = sweeps.start(y)
    return [
        sum_series(graph, L.lmax, coeffs, f[0]),
        sum_series_adjoint(graph, L.lmax, coeffs, f),
        recurrence_dots(graph, L.lmax, 9, f[0]),
        b,
        sweeps.sweep(b, b.copy(), np.empty_like(b), 5),
    ]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 6, 20])
@pytest.mark.parametrize("name", ["grid", "sensor"])
def test_one_and_several_threads_agree_to_the_last_bit(all_share, monkeypatch, dtype, width, name):
    L = cg.laplacian(cg.gallery.grid(40) if name == "grid" else cg.gallery.sensor(1500, rng=0))
    graph = in_chunks(L, dtype, 23)
    shared = everything(graph, L, dtype, width)
    monkeypatch.setattr(threads, "thread_limit", lambda: 1)
    for got, expected in zip(shared, everything(graph, L, dtype, width), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_helpers_take_part(all_share):
    """Chunks are done by more than one thread."""
    seen = set()

    def loop(board, mine, budget):
        while (ticket := claim(board, mine)) >= 0:
            seen.add(mine)
            time.sleep(1e-3)
            finish(board)
        return ticket

    threads.run(loop, n_chunks=8, n_steps=20, numbers=1000)
    assert len(seen) > 1


def test_a_leader_does_all_the_work_if_no_helper_comes(all_share, monkeypatch):
    monkeypatch.setattr(threads.HELPERS, "submit", lambda work, mine: None)
    L = cg.laplacian(cg.gallery.grid(20))
    graph = in_chunks(L, np.float64, 7)
    f = np.random.default_rng(0).standard_normal((400, 1))
    y = sum_series(graph, L.lmax, np.ones((1, 9)), f)
    np.testing.assert_array_equal(y, sum_series(prepare_graph(L.matrix, np.float64), L.lmax, np.ones((1, 9)), f))


def test_every_chunk_of_every_step_is_claimed_once_and_steps_follow_each_other():
    board = new_board(n_chunks=7, n_steps=3, n_queues=3, spins=1)
    claimed = []
    for _ in range(3):
        claimed.append([claim(board, mine) for mine in (2, 0, 1, 0, 2, 2, 1)])
        assert claim(board, 1) == WAIT
        for _ in range(7):
            finish(board)
    assert [sorted(step) for step in claimed] == [list(range(7 * s, 7 * s + 7)) for s in range(3)]
    assert claim(board, 0) == FINISHED


@pytest.mark.parametrize(("told", "leader", "helper"), [(GO_ON, 0, 2), (DISMISSED, 0, LEAVE), (STOPPED, LEAVE, LEAVE)])
def test_what_threads_are_told(told, leader, helper):
    board = new_board(n_chunks=4, n_steps=1, n_queues=2, spins=1)
    board[SIGNAL] = told
    assert claim(board, 0) == leader
    assert claim(board, 1) == helper


def test_a_helper_that_does_not_run_is_let_go(all_share, monkeypatch):
    """Helpers that fall asleep with a chunk in hand are sent away, and not asked again for a time."""
    monkeypatch.setattr(threads.HELPERS, "credit", 0.01)
    helped = []

    def loop(board, mine, budget):
        while (ticket := claim(board, mine)) >= 0:
            time.sleep(1e-4)
            if mine:
                helped.append(ticket)
                time.sleep(0.1)
            finish(board)
        return ticket

    threads.run(loop, n_chunks=4, n_steps=40, numbers=4000, n_threads=2)
    assert 1 <= len(helped) <= 2
    assert not threads.HELPERS.may_come
    threads.HELPERS.rest_until = 0.0


def test_short_waits_are_paid_for_by_time_with_helpers(monkeypatch):
    """Helpers stay through a wait now and then, and rest after many, as long as makes up for them."""
    helpers, now = threads.Helpers(), [100.0]
    monkeypatch.setattr(threads.time, "monotonic", lambda: now[0])
    for _ in range(50):
        assert not helpers.lose(0.001)
        helpers.earn(0.05)
    lost = 0.0
    while not helpers.lose(0.001):
        lost += 0.001
    assert 0.001 <= lost <= 0.003
    assert helpers.lose(0.01)
    assert not helpers.may_come
    now[0] += 0.06
    assert not helpers.may_come
    now[0] += 0.04
    assert helpers.may_come
    assert helpers.lose(0.002)  # nothing was earned since
    now[0] += 0.03
    assert not helpers.may_come
    now[0] += 0.01
    assert helpers.may_come


def test_helpers_rest_longer_the_sooner_they_are_waited_for_again(monkeypatch):
    helpers, now = threads.Helpers(), [100.0]
    monkeypatch.setattr(threads.time, "monotonic", lambda: now[0])
    helpers.credit = 0.0
    rests = []
    for pause in (0.0, 0.01, 0.01, 0.01, 0.01, 1.0):
        now[0] = max(helpers.rest_until, now[0]) + pause
        assert helpers.may_come
        assert helpers.lose(0.004)
        assert helpers.lose(0.006)  # the same wait goes on
        rests.append(helpers.rest_until - now[0])
    np.testing.assert_allclose(rests, [0.08, 0.16, 0.32, 0.32, 0.32, 0.08])


@pytest.mark.parametrize("told", [GO_ON, DISMISSED])
def test_time_with_helpers_counts_while_a_call_goes_on(all_share, monkeypatch, told):
    monkeypatch.setattr(threads, "_EARNED_PER_SECOND", 1000.0)
    monkeypatch.setattr(threads.HELPERS, "credit", 10.0)
    credits = []

    def loop(board, mine, budget):
        board[SIGNAL] = told
        credits.append(threads.HELPERS.credit)
        while (ticket := claim(board, mine)) >= 0:
            time.sleep(1e-3)
            finish(board)
            if mine == 0:
                return MORE
        return ticket

    threads.run(loop, n_chunks=4, n_steps=10, numbers=4000, n_threads=2)
    assert len(credits) > 10
    assert (max(credits) > 15) == (told == GO_ON)


def test_helpers_rest_for_a_second_at_most():
    helpers = threads.Helpers()
    assert helpers.lose(100.0)
    assert 0.9 < helpers.rest_until - time.monotonic() <= 1.0


def test_an_exception_of_a_helper_reaches_the_caller(all_share):
    def loop(board, mine, budget):
        while (ticket := claim(board, mine)) >= 0:
            if mine:
                raise MemoryError("no room for a strip")
            time.sleep(1e-3)
            finish(board)
        return ticket

    with pytest.raises(MemoryError, match="no room for a strip"):
        threads.run(loop, n_chunks=50, n_steps=100, numbers=1000)


def test_an_exception_of_the_caller_stops_the_helpers(all_share):
    inside = []

    def loop(board, mine, budget):
        while (ticket := claim(board, mine)) >= 0:
            if not mine:
                time.sleep(0.05)
                raise KeyboardInterrupt
            inside.append(mine)
            time.sleep(1e-3)
            inside.remove(mine)
            finish(board)
        return ticket

    with pytest.raises(KeyboardInterrupt):
        threads.run(loop, n_chunks=100, n_steps=100, numbers=1000)
    assert inside == []


def test_two_callers_at_once_get_right_answers(all_share):
    L = cg.laplacian(cg.gallery.grid(60))
    graph = in_chunks(L, np.float64, 30)
    rng = np.random.default_rng(0)
    signals = [rng.standard_normal((3600, m)) for m in (1, 4, 1, 16)]
    coeffs = rng.standard_normal((1, 200))
    expected = [sum_series(graph, L.lmax, coeffs, f) for f in signals]
    answers = {}

    def call(i):
        answers[i] = sum_series(graph, L.lmax, coeffs, signals[i])

    callers = [threading.Thread(target=call, args=(i,)) for i in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    for i in range(4):
        np.testing.assert_array_equal(answers[i], expected[i])


@pytest.mark.parametrize("used_before", [False, True])
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_filters(all_share, used_before):
    """Forked by multiprocessing and by hand, from a process that has threads and from one that has none."""
    code = (
        "import os, numpy as np, multiprocessing, cayleygsp as cg\n"
        "g = cg.CayleyFilter(cg.gallery.grid(150), cg.CayleyPolynomial([0.2, 0.5, 0.1j], 1.0), method='chebyshev')\n"
        "f = np.ones(22500)\n"
        f"used = {used_before}\n"
        "if used: g @ f\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    g @ f\n"
        "    os._exit(0)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0\n"
        "process = multiprocessing.get_context('fork').Process(target=lambda: g @ f)\n"
        "process.start()\n"
        "process.join()\n"
        "assert process.exitcode == 0\n"
        "g @ f\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("n_threads", ["1", "2"])
def test_ctrl_c_is_heard_within_a_second(n_threads):
    """A recurrence of some minutes ends soon after the signal, and no thread is left that computes."""
    code = (
        "import signal, time, numpy as np, cayleygsp as cg\n"
        "from cayleygsp.engine.packed import prepare_graph\n"
        "from cayleygsp.engine.recurrence import sum_series\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # which a shell takes from background jobs
        "L = cg.laplacian(cg.gallery.grid(400))\n"
        "graph, f = prepare_graph(L.matrix, np.float64), np.ones((160_000, 1))\n"
        "sum_series(graph, L.lmax, np.ones((1, 3)), f)\n"
        "print('ready', flush=True)\n"
        "try:\n"
        "    sum_series(graph, L.lmax, np.ones((1, 500_000)), f)\n"
        "except KeyboardInterrupt:\n"
        "    before = time.process_time()\n"
        "    time.sleep(0.2)\n"
        "    print('heard', time.process_time() - before)\n"
    )
    environment = {**os.environ, "NUMBA_NUM_THREADS": n_threads}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout.readline().strip() == "ready"
        time.sleep(0.5)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        word, used = process.stdout.readline().split()
        seconds = time.monotonic() - start
    assert word == "heard"
    assert float(used) < 0.1
    assert seconds < 2.5  # one second on a machine that is not busy with other tests


def test_numba_s_threads_are_not_started():
    code = (
        "import numpy as np, cayleygsp as cg\n"
        "cg.ChebyshevFilter(cg.gallery.grid(150), [0.5] * 40) @ np.ones(22500)\n"
        "from numba.np.ufunc import parallel\n"
        "assert not parallel._is_initialized\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_the_number_of_threads_follows_numba_and_the_processors(monkeypatch):
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        assert threads.thread_limit() == 1
    finally:
        numba.set_num_threads(before)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0}, raising=False)
    assert threads.thread_limit() == 1


def test_small_work_is_done_alone():
    assert threads.useful_threads(1000, 1000, limit=8) == 1
    assert threads.useful_threads(40_000, 3, limit=8) == 1
    assert threads.useful_threads(60_000, 100, limit=8) == 4
    assert threads.useful_threads(10**7, 100, limit=8) == 8
