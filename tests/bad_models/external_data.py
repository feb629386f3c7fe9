"""External data that leave the model's folder in every form, or that do not hold what the model says.

A file that the traversals aim at really lies outside and has the right size: were it read, the model would run.
"""

import os

from onnx import TensorProto, helper

from builder import FLOAT, array, model, node, raw_tensor, value

SIZE = 24  # bytes of w: f32[2,3]


def external_tensor(name="w", dims=(2, 3), **entries):
    tensor = TensorProto(name=name, data_type=FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, text in entries.items():
        tensor.external_data.add(key=key, value=text)
    return tensor


def add(bad, name, exit_code=2, mention=("'w'",), tensor=None, proto=None, **entries):
    """A folder with model.onnx, a good data.bin and sub/data.bin."""
    folder = bad.folder(name)
    (folder / "data.bin").write_bytes(b"\0" * SIZE)
    (folder / "sub").mkdir()
    (folder / "sub" / "data.bin").write_bytes(b"\0" * SIZE)
    tensor = tensor or external_tensor(**entries)
    proto = proto or model([node("Add", ["x", "w"], ["y"])], initializers=[tensor])
    (folder / "model.onnx").write_bytes(proto.SerializeToString())
    bad.expect(f"{name}/model.onnx", exit_code, mention)
    return folder


def leaving_the_folder(bad):
    secret = bad.root / "secret.bin"
    secret.write_bytes(b"\0" * SIZE)
    outside = bad.root / "outside"
    outside.mkdir()
    (outside / "secret.bin").write_bytes(b"\0" * SIZE)

    for name, location in {
            "dotdot": "../secret.bin",
            "dotdot_in_the_middle": "sub/../../secret.bin",
            "dotdot_after_a_dot": "./../secret.bin",
            "dotdot_with_slashes": "sub//..//..//secret.bin",
            "dotdot_many": "../" * 40 + "etc/hostname",
            "dotdot_through_a_missing_folder": "missing/../../secret.bin",
            "dotdot_backslash": "..\\secret.bin",
            "dotdot_only": "..",
            "absolute": str(secret.resolve()),
            "absolute_twice": "/" + str(secret.resolve()),
            "absolute_proc": "/proc/self/environ",
            "absolute_device": "/dev/zero",
            "home": "~/secret.bin",
            "url": "file://" + str(secret.resolve()),
            "proc_root": "../../../../../../../../proc/self/root/etc/hostname",
    }.items():
        add(bad, f"external_{name}", location=location)
    # The C string ends at the NUL; what follows or precedes must not decide which file is opened.
    add(bad, "external_nul_byte", location="data.bin\0/../../secret.bin")
    add(bad, "external_nul_first", location="\0../secret.bin")

    for name, target in {"link_to_a_file": "../secret.bin", "link_absolute": str(secret.resolve()),
                         "link_to_a_device": "/dev/zero", "link_to_proc": "/proc/self/environ"}.items():
        folder = add(bad, f"external_{name}", location="link.bin")
        (folder / "link.bin").symlink_to(target)
    folder = add(bad, "external_link_to_a_folder", location="up/secret.bin")
    (folder / "up").symlink_to("../outside")
    folder = add(bad, "external_link_to_a_link", location="first.bin")
    (folder / "first.bin").symlink_to("second.bin")
    (folder / "second.bin").symlink_to("../secret.bin")
    folder = add(bad, "external_link_and_dotdot", location="up/../secret.bin")
    (folder / "up").symlink_to("../outside")
    folder = add(bad, "external_link_to_itself", location="link.bin")
    (folder / "link.bin").symlink_to("link.bin")


def not_a_data_file(bad):
    add(bad, "external_no_location")
    add(bad, "external_location_empty", location="")
    add(bad, "external_missing_file", location="missing.bin")
    add(bad, "external_directory", location="sub")
    add(bad, "external_dot", location=".")
    add(bad, "external_slash_after_a_file", location="data.bin/")
    add(bad, "external_name_too_long", location="a" * 5000)
    folder = add(bad, "external_fifo", location="fifo.bin")
    os.mkfifo(folder / "fifo.bin")
    folder = add(bad, "external_empty_file", location="empty.bin")
    (folder / "empty.bin").write_bytes(b"")


def offsets(bad):
    for name, entries in {
            "offset_beyond_the_file": {"offset": "1000"},
            "offset_at_the_end": {"offset": str(SIZE)},
            "offset_partly_beyond": {"offset": "4", "length": str(SIZE)},
            "offset_negative": {"offset": "-4"},
            "offset_is_a_word": {"offset": "four"},
            "offset_hexadecimal": {"offset": "0x0"},
            "offset_with_a_tail": {"offset": "0 and more"},
            "offset_of_100_digits": {"offset": "1" * 100},
            "offset_overflows_with_the_length": {"offset": str(2**63 - 8), "length": str(SIZE)},
            "offset_2_to_64": {"offset": str(2**64), "length": str(SIZE)},
            "length_negative": {"length": "-1"},
            "length_too_short": {"length": "20"},
            "length_too_long": {"length": "28"},
            "length_is_a_word": {"length": "all"},
            "length_overflows": {"length": str(2**63)},
    }.items():
        add(bad, f"external_{name}", location="data.bin", **entries)
    add(bad, "external_dims_larger_than_the_file", tensor=external_tensor(dims=(2**18, 2**20), location="data.bin"))
    add(bad, "external_dims_overflow", tensor=external_tensor(dims=(2**40, 2**40), location="data.bin"))


def elsewhere_in_the_model(bad):
    """Traversals that hide in places other than the initializers of the main graph."""
    outside = external_tensor(location="../secret.bin")
    add(bad, "external_in_a_constant", mention=["secret.bin"],
        proto=model([node("Constant", [], ["w"], value=outside), node("Add", ["x", "w"], ["y"])]))
    body = helper.make_graph([node("Add", ["x", "w"], ["inner"])], "body", [], [value("inner")], [outside])
    add(bad, "external_in_a_subgraph", mention=["secret.bin"],
        proto=model([node("If", ["c"], ["y"], then_branch=body, else_branch=body)], initializers=[array("c", True, bool)]))
    unused = model([node("Relu", ["x"], ["y"])], initializers=[outside])
    add(bad, "external_in_an_unused_initializer", mention=["secret.bin"], proto=unused)
    both = external_tensor(location="../secret.bin")
    both.raw_data = b"\0" * SIZE
    add(bad, "external_beside_raw_data", tensor=both, mention=["'w'"])


def good_ones(bad):
    add(bad, "good_external", 0, [], location="data.bin", offset="0", length=str(SIZE))
    add(bad, "good_external_in_a_subfolder", 0, [], location="sub/data.bin")
    folder = add(bad, "good_external_link_inside", 0, [], location="link.bin")
    (folder / "link.bin").symlink_to("sub/data.bin")
    folder = add(bad, "good_external_name_with_dots", 0, [], location="..data..bin")
    (folder / "..data..bin").write_bytes(b"\0" * SIZE)
    folder = add(bad, "good_external_large_offset", 0, [], location="sparse.bin", offset=str(2**33))
    with open(folder / "sparse.bin", "wb") as out:  # 8 GiB with a hole: only what is needed may be read
        out.seek(2**33)
        out.write(b"\0" * SIZE)
    plain = raw_tensor()
    plain.external_data.add(key="location", value="../secret.bin")  # ignored: data_location is DEFAULT
    add(bad, "external_entries_without_external_location", [0, 2], [], tensor=plain)


def cases(bad):
    leaving_the_folder(bad)
    not_a_data_file(bad)
    offsets(bad)
    elsewhere_in_the_model(bad)
    good_ones(bad)
