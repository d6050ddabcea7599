"""libbpf by ctypes: the functions that we use, typed, and what it says when it fails."""

import ctypes
import os
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from functools import cache
from typing import Any

from turnout.core import native


class BpfError(OSError):
    """A refusal by libbpf or the kernel; the message is the step and its reason."""


class TestRunOpts(ctypes.Structure):
    """struct bpf_test_run_opts."""

    __test__ = False
    _fields_ = [
        ("sz", c_size_t),
        ("data_in", c_void_p),
        ("data_out", c_void_p),
        ("data_size_in", c_uint),
        ("data_size_out", c_uint),
        ("ctx_in", c_void_p),
        ("ctx_out", c_void_p),
        ("ctx_size_in", c_uint),
        ("ctx_size_out", c_uint),
        ("retval", c_uint),
        ("repeat", c_int),
        ("duration", c_uint),
        ("flags", c_uint),
        ("cpu", c_uint),
        ("batch_size", c_uint),
    ]


class MapCreateOpts(ctypes.Structure):
    """struct bpf_map_create_opts."""

    _fields_ = [
        ("sz", c_size_t),
        ("btf_fd", c_uint),
        ("btf_key_type_id", c_uint),
        ("btf_value_type_id", c_uint),
        ("btf_vmlinux_value_type_id", c_uint),
        ("inner_map_fd", c_uint),
        ("map_flags", c_uint),
        ("map_extra", c_uint64),
        ("numa_node", c_uint),
        ("map_ifindex", c_uint),
    ]


class XdpQueryOpts(ctypes.Structure):
    """struct bpf_xdp_query_opts."""

    _fields_ = [
        ("sz", c_size_t),
        ("prog_id", c_uint),
        ("drv_prog_id", c_uint),
        ("hw_prog_id", c_uint),
        ("skb_prog_id", c_uint),
        ("attach_mode", ctypes.c_uint8),
    ]


class LinkCreateOpts(ctypes.Structure):
    """struct bpf_link_create_opts."""

    _fields_ = [
        ("sz", c_size_t),
        ("flags", c_uint),
        ("iter_info", c_void_p),
        ("iter_info_len", c_uint),
        ("target_btf_id", c_uint),
        ("union_space", c_uint64 * 3),
    ]


class LinkInfo(ctypes.Structure):
    """The head of struct bpf_link_info, for links to interfaces."""

    _fields_ = [
        ("type", c_uint),
        ("id", c_uint),
        ("prog_id", c_uint),
        ("reserved", c_uint),
        ("ifindex", c_uint),
        ("attach_type", c_uint),
    ]


_PRINT = ctypes.CFUNCTYPE(c_int, c_int, c_char_p, c_void_p)
_said: list[str] = []

_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "bpf_object__open_file": (c_void_p, [c_char_p, c_void_p]),
    "bpf_object__load": (c_int, [c_void_p]),
    "bpf_object__close": (None, [c_void_p]),
    "bpf_object__next_map": (c_void_p, [c_void_p, c_void_p]),
    "bpf_object__next_program": (c_void_p, [c_void_p, c_void_p]),
    "bpf_map__name": (c_char_p, [c_void_p]),
    "bpf_map__fd": (c_int, [c_void_p]),
    "bpf_map__type": (c_uint, [c_void_p]),
    "bpf_map__key_size": (c_uint, [c_void_p]),
    "bpf_map__value_size": (c_uint, [c_void_p]),
    "bpf_map__max_entries": (c_uint, [c_void_p]),
    "bpf_map__set_max_entries": (c_int, [c_void_p, c_uint]),
    "bpf_program__name": (c_char_p, [c_void_p]),
    "bpf_program__fd": (c_int, [c_void_p]),
    "bpf_map_create": (c_int, [c_uint, c_char_p, c_uint, c_uint, c_uint, c_void_p]),
    "bpf_map_lookup_elem": (c_int, [c_int, c_void_p, c_void_p]),
    "bpf_map_update_elem": (c_int, [c_int, c_void_p, c_void_p, c_uint64]),
    "bpf_map_delete_elem": (c_int, [c_int, c_void_p]),
    "bpf_map_get_next_key": (c_int, [c_int, c_void_p, c_void_p]),
    "bpf_map_lookup_batch": (
        c_int,
        [c_int, c_void_p, c_void_p, c_void_p, c_void_p, POINTER(c_uint), c_void_p],
    ),
    "bpf_map_update_batch": (c_int, [c_int, c_void_p, c_void_p, POINTER(c_uint), c_void_p]),
    "bpf_prog_test_run_opts": (c_int, [c_int, c_void_p]),
    "bpf_link_create": (c_int, [c_int, c_int, c_uint, c_void_p]),
    "bpf_link_update": (c_int, [c_int, c_int, c_void_p]),
    "bpf_obj_pin": (c_int, [c_int, c_char_p]),
    "bpf_obj_get": (c_int, [c_char_p]),
    "bpf_obj_get_info_by_fd": (c_int, [c_int, c_void_p, POINTER(c_uint)]),
    "bpf_prog_get_fd_by_id": (c_int, [c_uint]),
    "bpf_xdp_query": (c_int, [c_int, c_int, c_void_p]),
    "libbpf_num_possible_cpus": (c_int, []),
    "libbpf_set_print": (c_void_p, [_PRINT]),
}


def _hear(level: int, text: bytes, arguments: int) -> int:
    if level <= 1:  # warnings and information; 2 is debugging
        line = ctypes.create_string_buffer(1 << 16)
        ctypes.CDLL(None).vsnprintf(line, c_size_t(len(line)), text, c_void_p(arguments))
        _said.append(line.value.decode(errors="replace").rstrip())
        del _said[:-100]
    return 0


_listen = _PRINT(_hear)


@cache
def libbpf() -> ctypes.CDLL:
    """The library that came with the package."""
    ctypes.CDLL(str(native("libelf.so.1")), mode=ctypes.RTLD_GLOBAL)
    library = ctypes.CDLL(str(native("libbpf.so.1")), use_errno=True)
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    library.libbpf_set_print(_listen)
    return library


def check(result: int | None, step: str) -> int:
    """`result` where it is one; raises BpfError with `step`, the errno and what libbpf said.

    libbpf 1.x returns a negative errno or sets errno and returns NULL.
    """
    said = "\n".join(_said)
    _said.clear()
    if result is not None and result >= 0:
        return result
    number = -result if result is not None and result < -1 else ctypes.get_errno()
    reason = f"{step}: {os.strerror(number)}"
    raise BpfError(number, f"{reason}\n{said}" if said else reason)


def page(size: int) -> int:
    """`size` rounded up to whole pages, for mmap."""
    unit = os.sysconf("SC_PAGE_SIZE")
    return -(-size // unit) * unit


__all__ = [
    "BpfError",
    "LinkCreateOpts",
    "LinkInfo",
    "MapCreateOpts",
    "TestRunOpts",
    "XdpQueryOpts",
    "check",
    "libbpf",
    "page",
]
