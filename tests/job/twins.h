// A small model with subgraphs to decide on: one that occurs twice and has three ways to be run, and one that has two.
#pragma once

namespace attune::test {

/// Two products of equal shapes with bias and activation, and one of another shape with an activation only.
inline constexpr const char* kTwins = R"(graph "g" {
  input %x : f32[4, 3]
  const %w : f32[3, 3] = [1, -2, 3, 0.5, 1, -1, 2, 1, 0.25]
  const %b : f32[3] = [0.5, -0.5, 1]
  const %v : f32[3, 2] = [0.1, 0.2, -0.1, 0.3, 0.2, 0.1]
  %p1 = MatMul@13(%x, %w) "first"
  %s1 = Add@14(%p1, %b) "first_bias"
  %r1 = Relu@14(%s1) "first_relu"
  %p2 = MatMul@13(%r1, %w) "second"
  %s2 = Add@14(%p2, %b) "second_bias"
  %r2 = Relu@14(%s2) "second_relu"
  %p3 = MatMul@13(%r2, %v) "third"
  %r3 = Tanh@13(%p3) "third_tanh"
  output %r3
})";

}  // namespace attune::test
