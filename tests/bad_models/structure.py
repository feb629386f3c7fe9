"""Models that parse but do not hang together: cycles, names, opsets; and odd ones that are right."""

import numpy as np
from onnx import helper

from builder import INT64, array, model, node, relu_model, value


def cycles(bad):
    bad.add("cycle_of_two", model([node("Relu", ["b"], ["a"]), node("Abs", ["a"], ["b"]), node("Neg", ["b"], ["y"])]),
            mention=["cycle", "the_relu|the_abs"])
    bad.add("cycle_of_itself", model([node("Add", ["x", "y"], ["y"])]), mention=["cycle", "the_add"])
    chain = [node("Relu", [f"v{(i - 1) % 500}"], [f"v{i}"], name=f"n{i}") for i in range(500)]
    bad.add("cycle_of_500", model([*chain, node("Neg", ["v0"], ["y"])]), mention=["cycle"])
    body = helper.make_graph([node("Neg", ["y"], ["inner"])], "body", [], [value("inner")])
    bad.add("cycle_through_a_subgraph",
            model([node("If", ["c"], ["y"], then_branch=body, else_branch=body)], initializers=[array("c", True, bool)]),
            mention=["cycle", "the_if"])


def names(bad):
    relu = node("Relu", ["x"], ["y"])
    twice = ["twice|already", "'y'"]
    bad.add("value_produced_twice", model([relu, node("Abs", ["x"], ["y"])]), mention=twice)
    bad.add("node_with_equal_outputs", model([node("Split", ["x"], ["y", "y"], axis=0)]), mention=twice)
    bad.add("node_overwrites_an_input", model([node("Relu", ["x"], ["x"]), relu]), mention=["'x'"])
    bad.add("node_overwrites_an_initializer",
            model([node("Relu", ["x"], ["w"]), node("Add", ["x", "w"], ["y"])], initializers=[array("w", 1)]),
            mention=["'w'"])
    bad.add("input_declared_twice", model([relu], inputs=[value("x"), value("x")]), mention=["twice", "'x'"])
    bad.add("initializer_defined_twice",
            model([node("Add", ["x", "w"], ["y"])], initializers=[array("w", 1), array("w", 2)]), mention=["twice", "'w'"])
    bad.add("input_nothing_produces", model([node("Add", ["x", "ghost"], ["y"])]), mention=["'ghost'", "the_add"])
    bad.add("output_nothing_produces", model([relu], outputs=[value("y"), value("ghost")]), mention=["'ghost'"])
    inner = helper.make_graph([node("Neg", ["ghost"], ["inner"])], "body", [], [value("inner")])
    bad.add("input_nothing_produces_in_a_subgraph",
            model([node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)], initializers=[array("c", True, bool)]),
            mention=["'ghost'"])
    leak = helper.make_graph([node("Neg", ["x"], ["inner"])], "body", [], [value("inner")])
    bad.add("outer_graph_reads_an_inner_value",
            model([node("If", ["c"], ["t"], then_branch=leak, else_branch=leak), node("Relu", ["inner"], ["y"])],
                  initializers=[array("c", True, bool)]), mention=["'inner'"])
    bad.add("initializer_unlike_its_input_in_shape",
            model([node("Add", ["x", "w"], ["y"])], inputs=[value("x"), value("w", shape=(4,))], initializers=[array("w", 1)]),
            mention=["'w'"])
    bad.add("initializer_unlike_its_input_in_dtype",
            model([node("Add", ["x", "w"], ["y"])], inputs=[value("x"), value("w", INT64, ())], initializers=[array("w", 1)]),
            mention=["'w'"])
    bad.add("no_outputs", model([relu], outputs=[]), mention=["output"])
    untyped = model([relu])
    untyped.graph.input[0].ClearField("type")
    bad.add("input_without_a_type", untyped, mention=["'x'", "type"])


def opsets(bad):
    relu = [node("Relu", ["x"], ["y"])]
    bad.add("no_opset", model(relu, opsets=[]), mention=["opset"])
    bad.add("opset_0", model(relu, opsets=[("", 0)]), mention=["opset"])
    bad.add("opset_negative", model(relu, opsets=[("", -3)]), mention=["opset"])
    bad.add("opset_999", model(relu, opsets=[("", 999)]), 3, ["opset", "999"])
    bad.add("opset_2_to_62", model(relu, opsets=[("", 2**62)]), 3, ["opset"])
    bad.add("domain_not_imported", model([helper.make_node("Gelu", ["x"], ["y"], "the_gelu", domain="com.microsoft")]),
            [2, 3], ["com.microsoft"])
    bad.add("unknown_operator", model([node("Frobnicate", ["x"], ["y"])]), 3, ["Frobnicate", "the_frobnicate", "ai.onnx", "17"])
    bad.add("unknown_domain", model([helper.make_node("Relu", ["x"], ["y"], "n1", domain="acme.corp")],
                                    opsets=[("", 17), ("acme.corp", 1)]), 3, ["acme.corp", "Relu", "n1"])
    bad.add("unknown_operator_in_a_subgraph", model(
        [node("If", ["c"], ["y"], then_branch=frob(), else_branch=frob())], initializers=[array("c", True, bool)]),
        3, ["Frobnicate"])
    bad.add("operator_without_a_name", model([node("", ["x"], ["y"], name="n1")]), [2, 3], ["n1"])
    bad.add("operator_of_a_later_opset", model([node("Gelu", ["x"], ["y"])], opsets=[("", 13)]), 3, ["Gelu", "13"])
    bad.add("operator_that_was_removed",
            model([node("Upsample", ["x", "s"], ["y"])], initializers=[array("s", [1, 2])]), 3, ["Upsample", "17"])
    bad.add("operator_name_of_a_megabyte", model([node("A" * 1_000_000, ["x"], ["y"], name="n1")]), 3, ["n1"])


def frob():
    return helper.make_graph([node("Frobnicate", ["x"], ["inner"])], "body", [], [value("inner")])


def good_ones(bad):
    """Odd but right: refusing these would be a mistake too."""
    proto = relu_model()
    proto.ClearField("ir_version")
    bad.add("good_without_ir_version", proto, 0)
    bad.add("good_output_is_an_input", model([], outputs=[value("x")]), 0)
    bad.add("good_output_is_an_initializer", model([], outputs=[value("w", shape=())], initializers=[array("w", 1)]), 0)
    bad.add("good_names_of_all_scripts", model([node("Relu", ["вход 🙂"], ["出力/0:0"])],
                                               inputs=[value("вход 🙂")], outputs=[value("出力/0:0")]), 0)
    bad.add("good_nodes_out_of_order", model([node("Neg", ["t"], ["y"]), node("Relu", ["x"], ["t"])]), 0)
    bad.add("good_nodes_without_names", model([helper.make_node("Relu", ["x"], ["t"]), helper.make_node("Relu", ["t"], ["y"])]), 0)
    bad.add("good_empty_tensor", model([node("Relu", ["x"], ["y"])], inputs=[value("x", shape=(0, 3))],
                                       outputs=[value("y", shape=(0, 3))]), 0)
    bad.add("good_unused_initializer", model([node("Relu", ["x"], ["y"])], initializers=[array("w", np.ones(100))]), 0)
    name = relu_model().SerializeToString().replace(b"the_relu", b"\xff\xfee_relu")
    bad.add("name_that_is_not_utf8", name, [0, 2], [])


def cases(bad):
    cycles(bad)
    names(bad)
    opsets(bad)
    good_ones(bad)
