"""Model-local functions that never end, lack something or blow up."""

from onnx import FunctionProto, helper

from builder import model, node


def function(name, nodes, attributes=(), inputs=("a",), outputs=("b",), opsets=(("", 17), ("local", 1))):
    proto = FunctionProto(name=name, domain="local")
    proto.input.extend(inputs)
    proto.output.extend(outputs)
    proto.attribute.extend(attributes)
    proto.node.extend(nodes)
    for domain, version in opsets:
        proto.opset_import.add(domain=domain, version=version)
    return proto


def call(name, inputs=("x",), outputs=("y",), **attributes):
    return helper.make_node(name, inputs, outputs, name=f"call_{name}_{outputs[0]}", domain="local", **attributes)


def cases(bad):
    imports = [("", 17), ("local", 1)]

    def add(name, calls, bodies, mention, exit_code=2):
        bad.add(name, model(calls, opsets=imports, functions=bodies), exit_code, mention)

    add("function_calls_itself", [call("f")], [function("f", [call("f", ["a"], ["b"])])], ["'f'"])
    add("functions_call_each_other", [call("f")],
        [function("f", [call("g", ["a"], ["b"])]), function("g", [call("f", ["a"], ["b"])])], ["'f'|'g'"])
    add("function_without_its_attribute", [call("f")],
        [function("f", [ref_node("LeakyRelu", "alpha", "alpha")], ["alpha"])], ["'alpha'", "'f'"])
    add("function_with_too_many_inputs", [call("f", ["x", "x"])], [function("f", [node("Relu", ["a"], ["b"])])], ["'f'"])
    add("function_with_too_many_outputs", [call("f", ["x"], ["y", "z"])],
        [function("f", [node("Relu", ["a"], ["b"])])], ["'f'"])
    add("function_without_its_output", [call("f")], [function("f", [node("Relu", ["a"], ["c"])])], ["'b'", "'f'"])
    add("function_reads_an_unknown_value", [call("f")], [function("f", [node("Add", ["a", "x"], ["b"])])], ["'x'"])
    add("function_with_a_cycle", [call("f")],
        [function("f", [node("Add", ["a", "c"], ["b"]), node("Relu", ["b"], ["c"])])], ["cycle"])
    add("function_defined_twice", [call("f")], 2 * [function("f", [node("Relu", ["a"], ["b"])])], ["'f'", "twice"])
    add("function_with_an_unknown_operator", [call("f")], [function("f", [node("Frobnicate", ["a"], ["b"])])],
        ["Frobnicate"], 3)
    # Each calls the one before it twice: 2^28 nodes from a file of a few kilobytes.
    doubling = [function("f0", [node("Relu", ["a"], ["b"])])]
    for i in range(1, 29):
        doubling.append(function(f"f{i}", [call(f"f{i - 1}", ["a"], ["m"]), call(f"f{i - 1}", ["m"], ["b"])]))
    add("functions_that_double_28_times", [call("f28")], doubling, ["nodes|deep|large"], [2, 3])
    bad.add("reference_outside_of_a_function", model([ref_node("LeakyRelu", "alpha", "alpha", "x", "y")]),
            mention=["'alpha'"])


def ref_node(op, attribute, refers_to, source="a", target="b"):
    result = node(op, [source], [target])
    result.attribute.add(name=attribute, ref_attr_name=refers_to, type=1)
    return result
