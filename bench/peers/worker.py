"""One peer in one process: loads a model, then for each number of runs on standard input answers with their times.

usage: worker.py PEER MODEL INPUTS OUTPUTS THREADS DTYPE
"""

import json
import sys
import time

import numpy as np


def onnxruntime_runner(model, inputs, threads, dtype):
    import onnxruntime as ort

    if dtype != "f32":
        raise SystemExit(f"ONNX Runtime does not compute an f32 model in {dtype} on CPUs")
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Its threads would go on spinning for a while after a run, on a core that another peer is being timed on.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return names, lambda: session.run(names, inputs)


def openvino_runner(model, inputs, threads, dtype):
    import openvino as ov

    core = ov.Core()
    core.set_property(
        "CPU", {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": dtype}
    )
    network = core.read_model(model)
    network.reshape({name: value.shape for name, value in inputs.items()})
    compiled = core.compile_model(network, "CPU")
    request = compiled.create_infer_request()
    names = [next(iter(o.get_names())) for o in compiled.outputs]

    def run():
        result = request.infer(inputs)
        return [result[o] for o in compiled.outputs]

    return names, run


def torch_runner(model, inputs, threads, dtype, compiled):
    import onnx
    import torch
    from onnx2torch import convert

    torch.set_num_threads(threads)
    network = convert(model).eval()
    if compiled:
        network = torch.compile(network)
    tensors = [torch.from_numpy(inputs[i.name]) for i in onnx.load(model, load_external_data=False).graph.input]
    names = [o.name for o in onnx.load(model, load_external_data=False).graph.output]

    def run():
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=dtype == "bf16"):
            result = network(*tensors)
        return [t.float().numpy() for t in (result if isinstance(result, (tuple, list)) else [result])]

    return names, run


RUNNERS = {
    "onnxruntime": onnxruntime_runner,
    "openvino": openvino_runner,
    "torch": lambda m, i, t, d: torch_runner(m, i, t, d, False),
    "torch.compile": lambda m, i, t, d: torch_runner(m, i, t, d, True),
}


def main():
    peer, model, inputs_path, outputs_path, threads, dtype = sys.argv[1:]
    inputs = dict(np.load(inputs_path))
    names, run = RUNNERS[peer](model, inputs, int(threads), dtype)
    np.savez(outputs_path, **dict(zip(names, run())))
    for _ in range(3):
        run()
    print("ready", flush=True)
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            begin = time.perf_counter()
            run()
            times.append((time.perf_counter() - begin) * 1000)
        print(json.dumps(times), flush=True)


if __name__ == "__main__":
    main()
