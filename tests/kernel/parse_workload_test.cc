#include "kernel/parse_workload.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

TEST(ParseWorkload, reads_its_own_text_back) {
  for (const std::string text : {
           "Conv@17(f32[1x64x56x56]@nhwc, f32[64x64x3x3]*, _) -> (f32[1x64x56x56]@nhwc) {pads = ints [1, 1, 1, 1]}",
           "attune::FusedMatMul@1(f32[8x8], f32[8x8]*, f32[scalar]*) -> (f32[8x8]) "
           "{epilogue = strings [\"mul 2\", \"relu\"]} high_performance",
           "Gather@17(f32[10x4], i64[2]* = [3, 9]) -> (f32[2x4]) {axis = 0}",
           "LeakyRelu@16(f32[4] in -2..3) -> (f32[4]) {alpha = 1f}",
           "QuantizeLinear@13(f32[4], f32[scalar]* in 0.01..0.1, u8[scalar]*0) -> (u8[4]) {}",
           "TopK@11(f32[8], i64[1]* = [3]) -> (_, i64[3]) {axis = 0}",
       }) {
    const WorkloadCase what = parse_workload_case(text);
    EXPECT_EQ(to_text(what), text);
    EXPECT_EQ(to_text(parse_workload_case(to_text(what))), text);
  }
}

TEST(ParseWorkload, reads_keys) {
  const Workload workload = parse_workload(
      "attune::FusedConv@1(f32[1x8x9x9]@nchw8c, f32[8x8x3x3]*, f32[8]*, f32[1x8x9x9]@nchw8c) -> (f32[1x8x9x9]@nchw8c) "
      "{auto_pad=NOTSET, epilogue=[add 3, relu], group=1, pads=[1, 1, 1, 1]} high_performance");
  EXPECT_EQ(workload.domain, "attune");
  EXPECT_EQ(std::get<std::string>(workload.attributes.at("auto_pad")), "NOTSET");
  EXPECT_EQ(std::get<std::vector<std::string>>(workload.attributes.at("epilogue")),
            (std::vector<std::string>{"add 3", "relu"}));
  EXPECT_EQ(std::get<int64_t>(workload.attributes.at("group")), 1);
  EXPECT_EQ(std::get<std::vector<int64_t>>(workload.attributes.at("pads")), (std::vector<int64_t>{1, 1, 1, 1}));
  EXPECT_EQ(workload.mode, NumericMode::high_performance);
}

TEST(ParseWorkload, key_of_what_a_key_reads_as_is_the_key) {
  for (const std::string key : {
           "LayerNormalization@17(f32[1x128x768], f32[768]*, f32[768]*) -> (f32[1x128x768]) {axis=-1, epsilon=1e-12}",
           "Sub@17(f32[scalar]*, f32[1x1x1x128]) -> (f32[1x1x1x128]) {}",
           "QLinearConv@10(u8[1x3x8x8], f32[scalar]*, u8[scalar]*0, i8[4x3x3x3]*, f32[4]*, i8[scalar]*0, f32[scalar]*, "
           "u8[scalar]*0) -> (u8[1x4x6x6]) {}",
       })
    EXPECT_EQ(parse_workload(key).key(), key);
}

TEST(ParseWorkload, whole_numbers_are_floats_where_onnx_has_floats) {
  const Workload workload = parse_workload("LeakyRelu@16(f32[4]) -> (f32[4]) {alpha=1}");
  EXPECT_EQ(std::get<float>(workload.attributes.at("alpha")), 1.0F);
}

TEST(ParseWorkload, says_what_is_wrong) {
  const auto message = [](const std::string& line) -> std::string {
    try {
      parse_workload(line);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message("Abs@13(f32[4]) -> (?)").find("write the outputs out"), std::string::npos);
  EXPECT_NE(message("Abs@13(f32[4]) -> (f32[4]) {} quickly").find("got 'quickly'"), std::string::npos);
  EXPECT_NE(message("Abs@13(f32[4]) -> (f32[4]) {axis").find("expected '}'"), std::string::npos);
}

}  // namespace
}  // namespace attune
