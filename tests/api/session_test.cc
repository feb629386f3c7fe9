// The public interface as a user sees it: nothing but its headers and the shared library.
#include <attune/attune.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

namespace {

attune::Tensor ramp(const attune::Shape& shape) {
  attune::Tensor tensor(attune::DType::f32, shape);
  for (size_t i = 0; i < tensor.count(); ++i) tensor.data_as<float>()[i] = static_cast<float>(i % 17) / 17;
  return tensor;
}

template <class Function> std::string message_of(const Function& function) {
  try {
    function();
  } catch (const attune::Error& error) {
    return error.what();
  }
  return "";
}

struct Lenet {
  attune::Session session{"zoo:lenet"};
  std::string input = session.inputs().at(0).name, output = session.outputs().at(0).name;
  attune::Tensor image = ramp({1, 1, 28, 28});
  attune::Tensor lone = std::move(session.run({{input, image}}).at(output));

  ::testing::AssertionResult is_lone(const void* data) const {
    return std::memcmp(data, lone.data(), lone.bytes()) == 0 ? ::testing::AssertionSuccess()
                                                             : ::testing::AssertionFailure();
  }
};

TEST(ApiSession, describes_inputs_and_outputs_with_symbols) {
  const attune::Session session("zoo:lenet:batch=0");
  ASSERT_EQ(session.inputs().size(), 1U);
  const attune::ValueInfo& input = session.inputs()[0];
  EXPECT_EQ(input.dtype, attune::DType::f32);
  ASSERT_TRUE(input.has_rank);
  ASSERT_EQ(input.shape.size(), 4U);
  EXPECT_FALSE(input.shape[0].is_known());
  EXPECT_EQ(input.shape[0].symbol, "batch");
  EXPECT_EQ(input.shape[3].size, 28);
  ASSERT_EQ(session.outputs().size(), 1U);
  EXPECT_EQ(session.outputs()[0].dtype, attune::DType::f32);
  ASSERT_EQ(session.outputs()[0].shape.size(), 2U);
  EXPECT_EQ(session.outputs()[0].shape[1].size, 10);
}

TEST(ApiSession, runs_other_batch_sizes_of_one_model) {
  const attune::Session session("zoo:lenet:batch=0");
  for (const int64_t batch : {1, 3}) {
    const auto outputs = session.run({{session.inputs()[0].name, ramp({batch, 1, 28, 28})}});
    EXPECT_EQ(outputs.begin()->second.shape(), (attune::Shape{batch, 10}));
  }
  EXPECT_EQ(session.stats().plans, 2);
}

TEST(ApiSession, writes_into_the_callers_memory_aligned_or_not) {
  const Lenet lenet;
  attune::Tensor aligned(attune::DType::f32, {1, 10});
  lenet.session.run({{lenet.input, lenet.image}}, {{lenet.output, aligned}});
  EXPECT_TRUE(lenet.is_lone(aligned.data()));
  std::vector<float> odd(lenet.image.count() + 1), result(12);
  std::memcpy(odd.data() + 1, lenet.image.data(), lenet.image.bytes());
  lenet.session.run({{lenet.input, attune::TensorView({1, 1, 28, 28}, odd.data() + 1)}},
                    {{lenet.output, attune::MutableTensorView({1, 10}, result.data() + 1)}});
  EXPECT_TRUE(lenet.is_lone(result.data() + 1));
  EXPECT_EQ(result[0], 0);
  EXPECT_EQ(result[11], 0);
}

TEST(ApiSession, refuses_tensors_that_do_not_fit_in_words) {
  const Lenet lenet;
  const auto run = [&](const attune::Inputs& inputs) { return message_of([&] { lenet.session.run(inputs); }); };
  EXPECT_NE(run({}).find("'" + lenet.input + "' is missing"), std::string::npos);
  EXPECT_NE(run({{"nobody", lenet.image}}).find("'nobody' is no input"), std::string::npos);
  EXPECT_NE(run({{lenet.input, ramp({1, 1, 28, 27})}}).find("1x1x28x27"), std::string::npos);
  EXPECT_NE(run({{lenet.input, attune::Tensor(attune::DType::f64, {1, 1, 28, 28})}}).find("f64"), std::string::npos);
  EXPECT_NE(run({{lenet.input, attune::TensorView()}}).find("no dtype"), std::string::npos);
  EXPECT_NE(run({{lenet.input, attune::TensorView(attune::DType::f32, {1, 1, 28, 28}, nullptr)}}).find("no memory"),
            std::string::npos);
  EXPECT_THROW(lenet.session.prepare({{lenet.input, ramp({2, 2})}}), attune::UserError);
}

TEST(ApiSession, refuses_output_memory_that_does_not_fit) {
  const Lenet lenet;
  attune::Tensor wrong(attune::DType::f32, {1, 11});
  const attune::Inputs inputs = {{lenet.input, lenet.image}};
  EXPECT_THROW(lenet.session.run(inputs, {{lenet.output, wrong}}), attune::UserError);
  EXPECT_THROW(lenet.session.run(inputs, {{"nobody", wrong}}), attune::UserError);
  attune::Tensor shared = ramp({1, 1, 28, 28});
  EXPECT_NE(message_of([&] {
              lenet.session.run({{lenet.input, shared}},
                                {{lenet.output, attune::MutableTensorView({1, 10}, shared.data_as<float>())}});
            }).find("overlaps"),
            std::string::npos);
}

TEST(ApiSession, saves_a_plan_that_loads_to_the_same_bits) {
  const Lenet lenet;
  const std::string path = testing::TempDir() + "/api_session_test.plan";
  lenet.session.save_plan({{lenet.input, lenet.image}}, path);
  const attune::Session loaded(path);
  EXPECT_TRUE(lenet.is_lone(loaded.run({{lenet.input, lenet.image}}).at(lenet.output).data()));
  std::filesystem::remove(path);
}

TEST(ApiSession, keeps_a_memory_limit) {
  attune::SessionOptions options;
  options.memory_limit_bytes = 1000;
  const attune::Session session("zoo:lenet", options);
  EXPECT_THROW(session.prepare({{session.inputs()[0].name, ramp({1, 1, 28, 28})}}), attune::UserError);
}

TEST(ApiSession, throws_its_own_errors) {
  EXPECT_THROW(attune::Session("no_such_file.onnx"), attune::UserError);
  EXPECT_THROW(attune::Session("zoo:no_such_model"), attune::UserError);
  attune::SessionOptions options;
  options.compute_dtype = attune::DType::f16;
  EXPECT_THROW(attune::Session("zoo:lenet", options), attune::UnsupportedError);
  options = {};
  options.providers = {"nobody"};
  EXPECT_THROW(attune::Session("zoo:lenet", options), attune::UserError);
  options = {};
  options.threads = -1;
  EXPECT_THROW(attune::Session("zoo:lenet", options), attune::UserError);
}

TEST(ApiSession, counts_the_memory_of_runs) {
  const Lenet lenet;
  const attune::SessionStats stats = lenet.session.stats();
  EXPECT_EQ(stats.plans, 1);
  EXPECT_GT(stats.weight_bytes, 61706 * 4);
  EXPECT_GT(stats.run_bytes, 0);
  EXPECT_EQ(stats.peak_arena_bytes, stats.run_bytes);
}

TEST(ApiTensor, moves_clones_and_checks_its_type) {
  attune::Tensor tensor = ramp({2, 3});
  EXPECT_EQ(tensor.bytes(), 24U);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data()) % 64, 0U);
  EXPECT_THROW(tensor.data_as<int32_t>(), attune::UserError);
  const attune::Tensor copy = tensor.clone();
  const attune::Tensor moved = std::move(tensor);
  EXPECT_TRUE(tensor.empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_NE(copy.data(), moved.data());
  EXPECT_EQ(std::memcmp(copy.data(), moved.data(), 24), 0);
  EXPECT_THROW(attune::Tensor(attune::DType::f32, {-1}), attune::UserError);
  EXPECT_EQ(attune::tensor_bytes(attune::DType::u4, {3}), 2U);
  EXPECT_STREQ(attune::dtype_name(attune::DType::boolean), "bool");
}

TEST(ApiVersion, library_and_headers_agree) {
  EXPECT_EQ(attune::library_version(), std::to_string(ATTUNE_VERSION_MAJOR) + "." +
                                           std::to_string(ATTUNE_VERSION_MINOR) + "." +
                                           std::to_string(ATTUNE_VERSION_PATCH));
}

TEST(ApiSession, writes_its_operators_down_when_the_environment_asks) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("attune_api_dump_" + std::to_string(getpid()));
  fs::remove_all(folder);
  setenv("ENABLE_TUNE_DUMP", "True", 1);
  setenv("TUNE_DUMP_PATH", folder.c_str(), 1);
  const attune::Session session("zoo:lenet:batch=0");
  unsetenv("ENABLE_TUNE_DUMP");
  unsetenv("TUNE_DUMP_PATH");
  const auto run = [&](int64_t batch) {
    const attune::Tensor image(attune::DType::f32, {batch, 1, 28, 28});
    session.run({{session.inputs().at(0).name, image}});
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  };
  EXPECT_EQ(run(1), 1);
  EXPECT_EQ(run(1), 1);
  EXPECT_EQ(run(2), 2) << "other shapes are other operators";
  fs::remove_all(folder);
}

}  // namespace
