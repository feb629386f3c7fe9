#!/usr/bin/env python3
"""Writes one small good model, bad input files for it, and a manifest of command lines with what attune should say.

manifest.json: [{name, arguments, expected_exit, must_mention}, ...]; arguments are relative to the folder. The model adds
x: f32[2,3] and y: f32[2,3] into z.
"""

import argparse
import json
import shutil
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from builder import model, node, value  # noqa: E402
from npy_files import CENTRAL, END, GOOD, LOCAL, bomb, described, npy, npz, patched, raw_npy, zip_of_one  # noqa: E402


class Inputs:
    def __init__(self, root):
        self.root = root
        self.manifest = []
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)

    def command(self, name, arguments, exit_code=2, mention=()):
        codes = [exit_code] if isinstance(exit_code, int) else list(exit_code)
        self.manifest.append({"name": name, "arguments": ["run", "add.onnx", *arguments], "expected_exit": codes,
                              "must_mention": list(mention)})

    def npz(self, name, contents, exit_code=2, mention=()):
        """The file given as --inputs."""
        (self.root / f"{name}.npz").write_bytes(contents)
        self.command(name, ["--inputs", f"{name}.npz"], exit_code, mention)

    def npy(self, name, contents, exit_code=2, mention=("x.npy|'x'|{file}",)):
        """The file given as --input x=, beside a good y; and the same inside of an npz."""
        (self.root / f"{name}.npy").write_bytes(contents)
        words = [word.replace("{file}", f"{name}.npy") for word in mention]
        self.command(f"{name} (npy)", ["--input", f"x={name}.npy", "--input", "y=good.npy"], exit_code, words)
        archive = npz({"x.npy": contents, "y.npy": npy(GOOD)}, zipfile.ZIP_DEFLATED)
        (self.root / f"{name}.npz").write_bytes(archive)
        self.command(f"{name} (npz)", ["--inputs", f"{name}.npz"], exit_code,
                     [word.replace(f"{name}.npy", f"{name}.npz") for word in words])


def wrong_arrays(add):
    both = {"x.npy": npy(GOOD), "y.npy": npy(GOOD)}
    add.npz("good", npz(both), 0)
    add.npz("good_compressed", npz(both, zipfile.ZIP_DEFLATED), 0)
    add.npy("good_fortran_order", npy(np.asfortranarray(GOOD)), 0, [])
    add.npy("good_not_a_number", npy(np.full((2, 3), np.nan, np.float32)), 0, [])
    add.npy("wrong_dtype_double", npy(GOOD.astype(np.float64)), mention=["'x'", "f32|float"])
    add.npy("wrong_dtype_int", npy(GOOD.astype(np.int64)), mention=["'x'", "f32|float"])
    add.npy("wrong_dtype_bool", npy(GOOD > 2), mention=["'x'"])
    add.npy("wrong_rank", npy(GOOD.reshape(6)), mention=["'x'", "shape"])
    add.npy("wrong_shape", npy(GOOD.reshape(3, 2)), mention=["'x'", "shape"])
    add.npy("wrong_scalar", npy(np.float32(1)), mention=["'x'", "shape"])
    add.npy("wrong_empty", npy(np.zeros((0, 3), np.float32)), mention=["'x'", "shape"])
    add.npz("missing_input", npz({"x.npy": npy(GOOD)}), mention=["'y'"])
    add.npz("no_inputs_at_all", npz({}), mention=["'x'|empty|no arrays|not a"])
    add.npz("unknown_input", npz({**both, "extra.npy": npy(GOOD)}), mention=["'extra'"])
    add.npz("misspelt_input", npz({"x.npy": npy(GOOD), "Y.npy": npy(GOOD)}), mention=["'Y'|'y'"])
    add.npy("dtype_object", npy(np.array([[1, "a", None]] * 2, dtype=object)))
    add.npy("dtype_text", npy(np.array([["a", "b", "c"]] * 2)))
    add.npy("dtype_bytes", npy(np.array([[b"a", b"b", b"c"]] * 2)))
    add.npy("dtype_complex", npy(GOOD.astype(np.complex64)))
    add.npy("dtype_date", npy(np.zeros((2, 3), "datetime64[s]")))
    add.npy("dtype_record", npy(np.zeros((2, 3), [("a", "<f4"), ("b", "<i4")])))
    add.npy("dtype_big_endian", npy(GOOD.astype(">f4")), [0, 2], [])
    add.npy("dtype_long_double", npy(GOOD.astype(np.longdouble)))


def broken_npy(add):
    whole = npy(GOOD)
    for length in (0, 1, 6, 8, 9, 10, 40, 80, 127, 128, len(whole) - 1):
        add.npy(f"npy_cut_at_{length}", whole[:length])
    add.npy("npy_with_a_tail", whole + b"\0" * 5, [0, 2], [])
    add.npy("npy_text_file", b"1.0 2.0 3.0\n" * 20)
    add.npy("npy_pickle", b"\x80\x04\x95" + b"\0" * 60)
    add.npy("npy_wrong_magic", described(magic=b"\x93NUMBY"))
    add.npy("npy_version_9", described(version=(9, 0)))
    add.npy("npy_version_2_short_length", described(version=(2, 0), length=2**32 - 1))
    add.npy("npy_header_longer_than_the_file", described(length=65535))
    add.npy("npy_header_empty", raw_npy(""))
    add.npy("npy_header_is_a_list", raw_npy("['descr', 'shape']"))
    add.npy("npy_header_is_code", raw_npy("__import__('os').system('touch hacked')"))
    add.npy("npy_header_without_shape", raw_npy("{'descr': '<f4', 'fortran_order': False, }"))
    add.npy("npy_header_without_descr", raw_npy("{'fortran_order': False, 'shape': (2, 3), }"))
    add.npy("npy_header_never_closed", raw_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3"))
    add.npy("npy_header_nested", raw_npy("(" * 10000))
    add.npy("npy_header_of_zeros", raw_npy(b"\0" * 100))
    add.npy("npy_order_is_a_number", described(order="7"))
    add.npy("npy_descr_unknown", described(descr="'<q9'"))
    add.npy("npy_descr_is_a_number", described(descr="4"))
    add.npy("npy_descr_of_a_huge_item", described(descr="'<f999999999999'"))
    add.npy("npy_shape_is_a_number", described(shape="6"))
    add.npy("npy_shape_negative", described(shape="(-2, -3)"))
    add.npy("npy_shape_of_words", described(shape="('a', 'b')"))
    add.npy("npy_shape_of_floats", described(shape="(2.0, 3.0)"))
    add.npy("npy_shape_overflows", described(shape=f"({2**40}, {2**40})"))
    add.npy("npy_shape_of_100_digits", described(shape=f"({'9' * 100},)"))
    add.npy("npy_shape_of_a_terabyte", described(shape=f"({2**38},)"))
    add.npy("npy_shape_wraps_to_6", described(shape=f"({2**62}, 4, 6)"))
    add.npy("npy_shape_of_rank_5000", described(shape="(" + "1," * 5000 + ")", data=b"\0" * 4))
    add.npy("npy_data_too_short", described(data=b"\0" * 20))


def broken_zip(add):
    both = {"x.npy": npy(GOOD), "y.npy": npy(GOOD)}
    plain, packed = npz(both), npz(both, zipfile.ZIP_DEFLATED)
    add.npz("zip_empty_file", b"", mention=["zip_empty_file"])
    add.npz("zip_is_text", b"x = [[1, 2, 3]]\n", mention=["zip_is_text"])
    add.npz("zip_is_an_npy", npy(GOOD), mention=["zip_is_an_npy"])
    for percent in (10, 50, 90, 99):
        add.npz(f"zip_cut_at_{percent}_percent", plain[:len(plain) * percent // 100], mention=[f"zip_cut_at_{percent}"])
    add.npz("zip_wrong_checksum", patched(patched(plain, LOCAL, 14, b"\0\0\0\0"), CENTRAL, 16, b"\0\0\0\0"),
            mention=["zip_wrong_checksum"])
    add.npz("zip_damaged_data", packed[:60] + b"\xff\xff\xff\xff\xff" + packed[65:], mention=["zip_damaged_data"])
    add.npz("zip_encrypted", patched(patched(plain, LOCAL, 6, b"\1\0"), CENTRAL, 8, b"\1\0"), mention=["zip_encrypted"])
    add.npz("zip_bzip2", npz(both, zipfile.ZIP_BZIP2), mention=["zip_bzip2"])
    add.npz("zip_lzma", npz(both, zipfile.ZIP_LZMA), mention=["zip_lzma"])
    add.npz("zip_directory_outside_of_the_file", patched(plain, END, 16, struct.pack("<I", 2**31)), mention=["outside_of_the_file"])
    add.npz("zip_entry_outside_of_the_file", patched(plain, CENTRAL, 42, struct.pack("<I", 2**31)), mention=["zip_entry_outside"])
    add.npz("zip_of_65535_entries", patched(plain, END, 8, b"\xff\xff\xff\xff"), mention=["zip_of_65535_entries"])
    add.npz("zip_entry_of_4_gigabytes", patched(patched(plain, LOCAL, 18, b"\xfe\xff\xff\xff" * 2), CENTRAL, 20, b"\xfe\xff\xff\xff" * 2),
            mention=["zip_entry_of_4_gigabytes"])
    add.npz("zip_entry_name_leaves_the_folder", npz({"x.npy": npy(GOOD), "y.npy": npy(GOOD), "../z.npy": npy(GOOD)}),
            mention=["../z|'../z"])
    add.npz("zip_entry_without_npy", npz({"x": npy(GOOD), "y": npy(GOOD)}), [0, 2])
    add.npz("zip_entry_is_no_npy", npz({**both, "readme.txt": b"hello"}), [0, 2])
    header = described(shape="(2, 3)", data=b"")
    add.npz("bomb_behind_a_small_shape", zip_of_one("x.npy", *bomb(320 << 20, header)), mention=["bomb_behind"])
    add.npz("bomb_that_lies_about_its_size", zip_of_one("x.npy", *bomb(320 << 20, header), declared=152), mention=["bomb_that_lies"])
    wide = described(shape=f"({80 << 20},)", data=b"")
    add.npz("bomb_with_a_true_shape", zip_of_one("x.npy", *bomb(320 << 20, wide)), mention=["'x'|bomb_with"])


def command_lines(add):
    (add.root / "folder.npz").mkdir()
    two = ["--input", "x=good.npy", "--input", "y=good.npy"]
    add.command("good_npy_files", two, 0)
    for name, arguments, words in [
            ("inputs_file_missing", ["--inputs", "nowhere.npz"], ["nowhere.npz"]),
            ("inputs_is_a_folder", ["--inputs", "folder.npz"], ["folder.npz"]),
            ("input_file_missing", ["--input", "x=nowhere.npy"], ["nowhere.npy"]),
            ("input_unknown", [*two, "--input", "q=good.npy"], ["'q'"]),
            ("input_without_a_name", ["--input", "good.npy"], ["good.npy"]),
            ("input_without_a_file", ["--input", "x="], ["x"]),
            ("input_twice", ["--input", "x=good.npy", *two], ["'x'|x"]),
            ("shapes_unknown_input", ["--shapes", "q:2x3"], ["'q'"]),
            ("shapes_of_words", ["--shapes", "x:2xmany"], ["2xmany|many"]),
            ("shapes_without_a_colon", ["--shapes", "2x3"], ["2x3"]),
            ("shapes_negative", ["--shapes", "x:-2x3"], ["-2"]),
            ("shapes_of_another_rank", ["--shapes", "x:2x3x4"], ["'x'"]),
            ("shapes_unlike_the_model", ["--shapes", "x:5x3"], ["'x'"]),
            ("shapes_overflow", ["--shapes", "x:99999999999999999999x3"], ["99999999999999999999|'x'"]),
            ("seed_is_a_word", ["--seed", "lucky"], ["seed"]),
            ("threads_zero", ["--threads", "0"], ["threads"]),
            ("threads_negative", ["--threads", "-2"], ["threads"]),
            ("threads_a_million", ["--threads", "1000000"], ["threads"]),
            ("flag_unknown", ["--sed", "1"], ["--sed", "--seed"]),
            ("output_folder_missing", [*two, "--output", "nowhere/out.npz"], ["nowhere"]),
            ("output_is_a_folder", [*two, "--output", "folder.npz"], ["folder.npz"])]:
        add.command(name, arguments, mention=words)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="folder to write; what was there is replaced")
    options = parser.parse_args()
    add = Inputs(options.out)
    proto = model([node("Add", ["x", "y"], ["z"])], inputs=[value("x"), value("y")], outputs=[value("z")])
    (options.out / "add.onnx").write_bytes(proto.SerializeToString())
    (options.out / "good.npy").write_bytes(npy(GOOD))
    wrong_arrays(add)
    broken_npy(add)
    broken_zip(add)
    command_lines(add)
    (options.out / "manifest.json").write_text(json.dumps(add.manifest, indent=1) + "\n")
    print(f"{len(add.manifest)} command lines in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
