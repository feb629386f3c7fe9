"""If, Loop and Scan with missing or unfitting bodies."""

import numpy as np
from onnx import helper

from builder import BOOL, FLOAT, INT64, array, model, node, value


def cases(bad):
    then = helper.make_graph([node("Neg", ["x"], ["inner"])], "body", [], [value("inner")])
    true = array("c", True, bool)
    bad.add("if_without_branches", model([node("If", ["c"], ["y"])], initializers=[true]), mention=["then_branch|else_branch"])
    bad.add("if_without_else", model([node("If", ["c"], ["y"], then_branch=then)], initializers=[true]), mention=["else_branch"])
    bad.add("if_condition_is_a_float",
            model([node("If", ["c"], ["y"], then_branch=then, else_branch=then)], initializers=[array("c", 1.0)]),
            mention=["If", "bool"])
    bad.add("if_condition_has_two_elements",
            model([node("If", ["c"], ["y"], then_branch=then, else_branch=then)],
                  initializers=[array("c", [True, False], bool)]), mention=["If"])
    bad.add("if_branch_is_a_number", model([node("If", ["c"], ["y"], then_branch=1, else_branch=2)], initializers=[true]),
            mention=["then_branch|else_branch"])
    bad.add("if_with_too_many_outputs",
            model([node("If", ["c"], ["y", "z"], then_branch=then, else_branch=then)], initializers=[true]), mention=["the_if"])
    loops(bad)
    scans(bad)


def loop_body(inputs=3, outputs=2):
    names = ["i", "go", "s", "extra"][:inputs]
    results = ["go_on", "next", "more"][:outputs]
    types = {"i": (INT64, ()), "go": (BOOL, ())}
    nodes = [node("Identity", ["go"], ["go_on"], name="keep"), node("Neg", ["s"], ["next"]), node("Abs", ["s"], ["more"])]
    if inputs < 3:
        nodes = [node("Identity", ["go"], ["go_on"], name="keep"), node("Neg", ["x"], ["next"])]
    return helper.make_graph(
        nodes, "body", [value(name, *types.get(name, (FLOAT, (2, 3)))) for name in names],
        [value(name, BOOL, ()) if name == "go_on" else value(name) for name in results])


def loops(bad):
    trip = [array("m", 2, np.int64), array("c", True, bool)]

    def add(name, body, mention=("the_loop",), inputs=("m", "c", "x"), outputs=("y",), initializers=trip,
            inspect_fails=True):
        attributes = {} if body is None else {"body": body}
        bad.add(name, model([node("Loop", list(inputs), list(outputs), **attributes)], initializers=list(initializers)),
                mention=list(mention), inspect_fails=inspect_fails)

    add("loop_without_a_body", None, ["the_loop|body"])
    add("loop_body_with_too_few_inputs", loop_body(inputs=2))
    add("loop_body_with_too_many_inputs", loop_body(inputs=4))
    add("loop_body_with_too_few_outputs", loop_body(outputs=1))
    add("loop_with_too_many_outputs", loop_body(), outputs=("y", "z", "u"))
    add("loop_trip_count_is_a_float", loop_body(), initializers=[array("m", 2.0), trip[1]], inspect_fails=False)
    changing = helper.make_graph(
        [node("Identity", ["go"], ["go_on"], name="keep"), node("Cast", ["s"], ["next"], to=7)], "body",
        [value("i", INT64, ()), value("go", BOOL, ()), value("s")], [value("go_on", BOOL, ()), value("next", INT64)])
    bad.add("loop_state_changes_its_dtype", model([node("Loop", ["m", "c", "x"], ["y"], body=changing)], initializers=trip),
            [0, 2], [])
    growing = helper.make_graph(
        [node("Identity", ["go"], ["go_on"], name="keep"), node("Concat", ["s", "s"], ["next"], axis=0),
         node("Reshape", ["s", "shape"], ["scan"])], "body",
        [value("i", INT64, ()), value("go", BOOL, ()), value("s", shape=("n", 3))],
        [value("go_on", BOOL, ()), value("next", shape=("m", 3)), value("scan", shape=("k",))])
    bad.add("loop_scan_output_changes_its_shape",
            model([node("Loop", ["m", "c", "x"], ["y", "z"], body=growing)], outputs=[value("z", shape=(2, None))],
                  initializers=[*trip, array("shape", [-1], np.int64)]), mention=["the_loop"], inspect_fails=False)


def scans(bad):
    body = helper.make_graph([node("Add", ["s", "e"], ["t"]), node("Identity", ["t"], ["o"])], "body",
                             [value("s", shape=(3,)), value("e", shape=(3,))], [value("t", shape=(3,)), value("o", shape=(3,))])
    state = array("s0", np.zeros(3))

    def add(name, inputs, outputs=("s1", "y"), initializers=(), mention=("the_scan",), **attributes):
        bad.add(name, model([node("Scan", list(inputs), list(outputs), **attributes)], initializers=[state, *initializers]),
                mention=list(mention))

    add("scan_without_a_body", ["s0", "x"], num_scan_inputs=1, mention=["the_scan|body"])
    add("scan_without_its_count", ["s0", "x"], body=body, mention=["num_scan_inputs"])
    add("scan_of_more_inputs_than_it_has", ["s0", "x"], body=body, num_scan_inputs=5)
    add("scan_of_negative_inputs", ["s0", "x"], body=body, num_scan_inputs=-1)
    add("scan_axis_out_of_range", ["s0", "x"], body=body, num_scan_inputs=1, scan_input_axes=[7])
    two = helper.make_graph([node("Add", ["e", "f"], ["o"])], "body", [value("e", shape=(3,)), value("f", shape=(3,))],
                            [value("o", shape=(3,))])
    add("scan_of_unequal_lengths", ["x", "long"], ["y"], [array("long", np.zeros((5, 3)))], body=two, num_scan_inputs=2)
    scalar = array("e", 1.0)
    add("scan_over_a_scalar", ["s0", "e"], ["s1", "y"], [scalar], body=body, num_scan_inputs=1)
