"""A loop of the library, called from Python: squares.py [the library's file]"""

import ctypes
import sys

forkjoin = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libforkjoin.so")
forkjoin.fj_last_error.restype = ctypes.c_char_p
BODY = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
forkjoin.fj_parallel_for.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, BODY, ctypes.c_void_p]


def parallel_for(first, last, body, grain=0):
    """Calls body(begin, end) for blocks of range(first, last). The body must not call the library."""
    if forkjoin.fj_parallel_for(first, last, grain, BODY(lambda begin, end, _: body(begin, end)), None):
        raise RuntimeError(forkjoin.fj_last_error().decode())


squares = [0] * 1000


def fill(begin, end):
    for i in range(begin, end):
        squares[i] = i * i


parallel_for(0, len(squares), fill, grain=100)
print("sum", sum(squares))
