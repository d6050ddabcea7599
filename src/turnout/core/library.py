"""libturnout_core by ctypes: the functions of src/core/turnout_core.h, typed."""

import ctypes
from ctypes import (
    POINTER,
    c_char_p,
    c_int,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)
from functools import cache
from typing import Any

from turnout.core.native import native

_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "turnout_flow_hashes": (None, [c_void_p, c_size_t, c_uint64, c_uint64, c_uint8, c_void_p]),
    "turnout_reason": (
        c_int,
        [c_uint32, POINTER(c_char_p), POINTER(c_char_p), POINTER(c_char_p)],
    ),
    "turnout_agent_reason": (
        c_int,
        [c_uint32, POINTER(c_char_p), POINTER(c_char_p), POINTER(c_char_p)],
    ),
    "turnout_key4": (c_uint64, [c_char_p, c_uint16, c_uint8]),
    "turnout_key6": (c_uint64, [c_char_p, c_uint16, c_uint8]),
    "turnout_filter": (c_uint32, [c_uint64]),
    "turnout_bucket": (c_uint32, [c_uint64]),
    "turnout_table": (
        c_int,
        [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_uint32, c_uint32, c_void_p],
    ),
    "turnout_lookup": (
        None,
        [c_void_p, c_uint32, c_void_p, c_uint32, c_uint32, c_void_p, c_size_t, c_void_p],
    ),
    "turnout_match": (
        c_int64,
        [c_void_p, c_size_t, c_uint32, c_uint64, c_void_p, c_void_p, c_void_p],
    ),
    "turnout_cheapest": (c_int64, [c_void_p, c_void_p, c_size_t, c_uint32, c_void_p]),
    "turnout_prefixes": (
        c_int64,
        [c_void_p, c_void_p, c_void_p, c_size_t, c_size_t, c_void_p],
    ),
}


@cache
def library() -> ctypes.CDLL:
    """The built library. Raises FileNotFoundError where the package was not built."""
    loaded = ctypes.CDLL(str(native("libturnout_core.so")))
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(loaded, name)
        function.restype = result
        function.argtypes = arguments
    return loaded
