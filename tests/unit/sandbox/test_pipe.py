from __future__ import annotations

import os

from toolorchestra.sandbox.pipe import CappedPipe, LinePipe


async def test_bytes_beyond_the_bound_are_counted_and_dropped() -> None:
    pipe = CappedPipe(max_bytes=4)
    os.write(pipe.write_fd, b"abc")
    os.write(pipe.write_fd, b"defg")
    pipe.drain()
    assert pipe.take() == (b"abcd", 3)
    os.write(pipe.write_fd, b"hi")
    pipe.drain()
    assert pipe.take() == (b"hi", 0)
    pipe.close()


async def test_a_closed_pipe_has_nothing_more_to_give() -> None:
    pipe = CappedPipe(max_bytes=4)
    pipe.close()
    pipe.close()
    pipe.drain()
    assert pipe.take() == (b"", 0)


async def test_lines_arrive_whole_and_in_order() -> None:
    pipe = LinePipe()
    os.write(pipe.write_fd, b"one\ntw")
    await pipe.wait()
    await pipe.wait()  # Waiting takes nothing.
    assert pipe.waiting_line() == "one"
    assert pipe.waiting_line() is None
    os.write(pipe.write_fd, b"o\n")
    await pipe.wait()
    assert pipe.waiting_line() == "two"
    pipe.close()


async def test_an_endless_line_and_a_flood_of_lines_stay_bounded() -> None:
    pipe = LinePipe()
    for data in (b"x" * 60_000, b"\n" * 60_000):
        os.write(pipe.write_fd, data)
        pipe.drain()
    num_lines = 0
    while (line := pipe.waiting_line()) is not None:
        assert len(line) <= 8192
        num_lines += 1
    assert num_lines == 64
    pipe.close()
