"""npy and npz files byte by byte, so that they can be wrong in any place."""

import io
import struct
import zipfile
import zlib

import numpy as np

GOOD = np.arange(6, dtype=np.float32).reshape(2, 3)


def npy(array):
    out = io.BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


def raw_npy(header, data=b"\0" * 24, version=(1, 0), magic=b"\x93NUMPY", length=None):
    """An npy file with this text as its header, whatever it says."""
    text = header.encode() if isinstance(header, str) else header
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    size = struct.pack("<H" if version[0] == 1 else "<I", len(text) if length is None else length)
    return magic + bytes(version) + size + text + data


def described(descr="'<f4'", shape="(2, 3)", order="False", **others):
    return raw_npy(f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}", **others)


def npz(members, compression=zipfile.ZIP_STORED):
    """An archive of {entry name: bytes}."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, contents in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = compression
            archive.writestr(info, contents)
    return out.getvalue()


def patched(archive, signature, offset, replacement):
    """Overwrites bytes at `offset` after every record that begins with `signature`."""
    contents = bytearray(archive)
    at = contents.find(signature)
    while at >= 0:
        contents[at + offset:at + offset + len(replacement)] = replacement
        at = contents.find(signature, at + 4)
    return bytes(contents)


LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"


def bomb(size, header):
    """A deflated entry that expands to the header and `size` zero bytes; made without holding them."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed, checksum, block = squeeze.compress(header), zlib.crc32(header), bytes(1 << 20)
    for _ in range(size >> 20):
        packed += squeeze.compress(block)
        checksum = zlib.crc32(block, checksum)
    packed += squeeze.flush()
    return packed, checksum, len(header) + size


def zip_of_one(name, packed, checksum, size, method=8, declared=None):
    """An archive with one entry whose declared size may be a lie."""
    stated = size if declared is None else declared
    fields = struct.pack("<HHHHHIIIHH", 20, 0, method, 0, 0x21, checksum, len(packed), stated, len(name), 0)
    local = LOCAL + fields + name.encode() + packed
    central = CENTRAL + struct.pack("<H", 20) + fields + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name.encode()
    return local + central + END + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
