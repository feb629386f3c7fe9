// What is saved as ONNX comes back the same, with contents inline or in a file beside the model.
#include "graph/text.h"
#include "graph/verify.h"
#include "io/temp_folder.h"
#include "onnx/model.h"
#include "zoo/zoo.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

namespace attune {
namespace {

constexpr const char* kGraph = R"(graph "net" {
  opset "" 17
  opset "com.microsoft" 1
  input %x : f32[N, 4]
  input %c : bool[]
  const %w : f32[4] = [1, 2.5, -3, 4e-05]
  const %h : f16[2] = hex "003c0040"
  const %four : u4[3] = hex "2103"
  %y = Add@17(%x, %w) "add_1"
  %g = com.microsoft::Gelu@1(%y) "gelu"
  %z : f32[N, 4] = If@17(%c) "if" {else_branch = graph "no" {
    opset "" 17
    opset "com.microsoft" 1
    capture %g = %g
    %r : f32[N, 4] = Neg@17(%g) "neg"
    output %r
  }, then_branch = graph "yes" {
    opset "" 17
    opset "com.microsoft" 1
    capture %g = %g
    const %k : f32[4] = [4, 3, 2, 1]
    %s : f32[N, 4] = Mul@17(%g, %k) "mul"
    output %s
  }}
  output %z
}
)";

TEST(OnnxRoundtrip, a_graph_comes_back_the_same) {
  const TempFolder folder;
  const auto path = folder.file("model.onnx");
  save_onnx(parse_graph(kGraph), path);
  const Model model = load_onnx(path);
  verify(model.graph);
  EXPECT_EQ(to_text(model.graph), to_text(parse_graph(kGraph)));
  EXPECT_EQ(model.producer, "attune");
}

bool same_constants(const Graph& a, const Graph& b) {
  for (const Value& value : a.values()) {
    if (!value.is_constant()) continue;
    const auto other = b.find_value(value.name);
    if (!other || b.value(*other).constant.size_bytes() != value.constant.size_bytes()) return false;
    if (std::memcmp(b.value(*other).constant.bytes(), value.constant.bytes(),
                    static_cast<size_t>(value.constant.size_bytes())) != 0)
      return false;
  }
  return true;
}

TEST(OnnxRoundtrip, large_contents_may_lie_beside_the_model) {
  const TempFolder folder;
  const Graph graph = zoo::build("lenet", {});
  save_onnx(graph, folder.file("inline.onnx"));
  SaveOptions options;
  options.external_threshold_bytes = 1000;
  save_onnx(graph, folder.file("external.onnx"), options);
  EXPECT_TRUE(std::filesystem::exists(folder.file("external.onnx.data")));
  EXPECT_LT(std::filesystem::file_size(folder.file("external.onnx")), 20000u);
  EXPECT_TRUE(same_constants(graph, load_onnx(folder.file("inline.onnx")).graph));
  EXPECT_TRUE(same_constants(graph, load_onnx(folder.file("external.onnx")).graph));
}

TEST(OnnxRoundtrip, aligned_external_contents_are_borrowed_not_copied) {
  const TempFolder folder;
  SaveOptions options;
  options.external_threshold_bytes = 1000;
  save_onnx(zoo::build("lenet", {}), folder.file("m.onnx"), options);
  Model model = load_onnx(folder.file("m.onnx"));
  int borrowed = 0;
  for (Value& value : model.graph.values()) {
    if (!value.is_constant() || value.constant.size_bytes() < 1000) continue;
    EXPECT_THROW(value.constant.mutable_bytes(), InternalError);  // the mapping is read-only
    ++borrowed;
  }
  EXPECT_GT(borrowed, 2);
}

TEST(OnnxRoundtrip, an_existing_file_survives_a_failed_save) {
  const TempFolder folder;
  const auto path = folder.file("model.onnx");
  std::ofstream(path) << "precious";
  Graph graph = parse_graph(kGraph);
  graph.nodes()[0].version = 3;  // a model file has one opset for each domain
  EXPECT_THROW(save_onnx(graph, path), UnsupportedError);
  std::string text;
  std::ifstream(path) >> text;
  EXPECT_EQ(text, "precious");
}

TEST(OnnxImport, bytes_that_are_no_model_are_refused) {
  const std::string text = "this is not a model";
  EXPECT_THROW(import_onnx(std::as_bytes(std::span(text)), nullptr), UserError);
  EXPECT_THROW(import_onnx({}, nullptr), UserError);
}

}  // namespace
}  // namespace attune
