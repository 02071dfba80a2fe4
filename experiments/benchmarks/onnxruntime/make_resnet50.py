"""Writes ResNet-50 (He et al. 2016, table 1; stride in the 3x3 as in torchvision) as an ONNX file with random weights.

usage: make_resnet50.py FILE.onnx [SEED]
"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Builder:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants = [], []

    def constant(self, value):
        name = f"w{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(value.astype(np.float32), name))
        return name

    def node(self, op, inputs, **attributes):
        name = f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def conv(self, x, channels, filters, kernel, stride, gain=1.0):
        """Convolution and batch normalisation whose output has about the variance `gain` squared."""
        deviation = np.sqrt(2.0 / (channels * kernel * kernel))
        weight = self.random.normal(0, deviation, (filters, channels, kernel, kernel))
        pad = kernel // 2
        y = self.node("Conv", [x, self.constant(weight)], kernel_shape=[kernel, kernel], strides=[stride, stride],
                      pads=[pad] * 4)
        vectors = [self.random.normal(gain, 0.1 * gain, filters), self.random.normal(0, 0.1, filters),
                   self.random.normal(0, 0.1, filters), self.random.uniform(0.8, 1.2, filters)]
        return self.node("BatchNormalization", [y] + [self.constant(v) for v in vectors])

    def bottleneck(self, x, channels, width, stride):
        y = self.node("Relu", [self.conv(x, channels, width, 1, 1)])
        y = self.node("Relu", [self.conv(y, width, width, 3, stride)])
        y = self.conv(y, width, 4 * width, 1, 1, gain=0.3)
        skip = x if channels == 4 * width else self.conv(x, channels, 4 * width, 1, stride)
        return self.node("Relu", [self.node("Add", [y, skip])])


def resnet50(seed):
    b = Builder(seed)
    x = b.node("Relu", [b.conv("x", 3, 64, 7, 2)])
    x = b.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            x = b.bottleneck(x, channels, width, stride if block == 0 else 1)
            channels = 4 * width
    x = b.node("Flatten", [b.node("GlobalAveragePool", [x])])
    weight = b.random.normal(0, 0.02, (1000, channels))
    b.nodes.append(helper.make_node("Gemm", [x, b.constant(weight), b.constant(np.zeros(1000))], ["y"], transB=1))
    graph = helper.make_graph(b.nodes, "resnet50",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 224, 224])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 1000])], b.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.strip())
    model = resnet50(int(sys.argv[2]) if len(sys.argv) == 3 else 0)
    onnx.checker.check_model(model)
    onnx.save(model, sys.argv[1])
