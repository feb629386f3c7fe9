// The suite's own eyes: each way in which a kernel can break its promises is seen.
#include "tune/measure/check_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace attune::testing {

using namespace tune;

namespace {

/// Abs of 80 floats in four tasks of 20, right unless `flaw` does something.
class FlawedKernel final : public Kernel {
 public:
  using Flaw = std::function<void(const KernelArguments&, int64_t begin, int64_t end)>;
  explicit FlawedKernel(Flaw flaw) : flaw_(std::move(flaw)) {}

  int64_t workspace_bytes() const override { return 64; }
  int in_place_input() const override { return 0; }
  int64_t task_count() const override { return 4; }
  void run(const KernelArguments& arguments, int64_t begin, int64_t end) const override {
    const auto* in = reinterpret_cast<const float*>(arguments.inputs[0]);
    auto* out = reinterpret_cast<float*>(arguments.outputs[0]);
    for (int64_t i = 20 * begin; i < 20 * end; ++i) out[i] = std::abs(in[i]);
    if (flaw_) flaw_(arguments, begin, end);
  }

 private:
  Flaw flaw_;
};

/// What the suite says to a kernel of one flaw.
std::string verdict(FlawedKernel::Flaw flaw, const std::string& text = "Abs@13(f32[4x20])") {
  const WorkloadCase what = parse_workload_case(text);
  const Example example = make_example(what, 1);
  return check_kernel(FlawedKernel(std::move(flaw)), complete_workload(what, example), example).problem;
}

float* output(const KernelArguments& arguments) { return reinterpret_cast<float*>(arguments.outputs[0]); }

TEST(CheckKernel, passes_what_is_right) { EXPECT_EQ(verdict({}), ""); }

TEST(CheckKernel, sees_a_wrong_element) {
  const std::string text =
      verdict([](const KernelArguments& arguments, int64_t, int64_t) { output(arguments)[7] = 3; });
  EXPECT_NE(text.find("element 7 of 80: got 3, want 0."), std::string::npos) << text;
}

TEST(CheckKernel, sees_an_element_that_is_not_written) {
  const std::string text = verdict([](const KernelArguments& arguments, int64_t, int64_t) {
    output(arguments)[7] = std::numeric_limits<float>::quiet_NaN();  // what the buffer held before
  });
  EXPECT_NE(text.find("element 7 of 80: got nan"), std::string::npos) << text;
}

TEST(CheckKernel, sees_writes_beside_the_output) {
  for (const int64_t at : {-1, 80})
    EXPECT_EQ(verdict([at](const KernelArguments& arguments, int64_t, int64_t) { output(arguments)[at] = 1; }),
              "it wrote beside output 0");
}

TEST(CheckKernel, sees_writes_beside_the_workspace) {
  for (const int64_t at : {-1, 64})
    EXPECT_EQ(
        verdict([at](const KernelArguments& arguments, int64_t, int64_t) { arguments.workspace[at] = std::byte{1}; }),
        "it wrote beside its workspace");
}

TEST(CheckKernel, sees_a_changed_input) {
  const std::string text = verdict([](const KernelArguments& arguments, int64_t, int64_t end) {
    if (end == 4) const_cast<std::byte*>(arguments.inputs[0])[319] ^= std::byte{1};
  });
  EXPECT_NE(text.find("it changed the input"), std::string::npos) << text;
}

TEST(CheckKernel, sees_results_that_depend_on_the_run) {
  const auto runs = std::make_shared<int>(0);
  EXPECT_EQ(verdict([runs](const KernelArguments& arguments, int64_t, int64_t) {
              if (++*runs > 1) output(arguments)[0] *= 1.0000002F;  // within the tolerance
            }),
            "a second run, on other memory, gave other bits");
}

TEST(CheckKernel, sees_tasks_that_depend_on_each_other) {
  const std::string text = verdict([](const KernelArguments& arguments, int64_t begin, int64_t) {
    if (begin > 0) output(arguments)[79] = output(arguments)[0] + 1;  // reads what task 0 writes
  });
  EXPECT_NE(text.find("second run"), std::string::npos) << text;
}

TEST(CheckKernel, sees_a_kernel_that_is_wrong_in_place) {
  const std::string text = verdict([](const KernelArguments& arguments, int64_t, int64_t) {
    if (arguments.inputs[0] == arguments.outputs[0]) output(arguments)[3] = 2;
  });
  EXPECT_NE(text.find("in place: output 0, element 3"), std::string::npos) << text;
}

TEST(CheckKernel, sees_padding_channels_that_are_not_zero) {
  // One image of five channels and ten pixels in blocks of eight: 80 elements, every eighth from the sixth is padding.
  const std::string text = "Abs@13(f32[1x5x10x1]@nchw8c) -> (?@nchw8c)";
  EXPECT_EQ(verdict({}, text), "");
  EXPECT_EQ(verdict([](const KernelArguments& arguments, int64_t, int64_t) { output(arguments)[13] = 1; }, text),
            "it left something in the padding channels of 0");
}

TEST(WorkloadCase, says_what_is_wrong_with_a_line) {
  const auto message = [](const std::string& line) -> std::string {
    try {
      parse_workload_case(line);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message("Abs@13(g32[4])").find("'g32' is not a dtype"), std::string::npos);
  EXPECT_NE(message("Abs@13(f32[4y2])").find("not a number"), std::string::npos);
  EXPECT_NE(message("Abs@13(f32[4]@nxyz)").find("'nxyz' is not a layout"), std::string::npos);
  EXPECT_NE(message("Abs@13(f32[4] in 3)").find("low..high"), std::string::npos);
  EXPECT_NE(message("Abs@13(f32[4]) more").find("end of the line"), std::string::npos);
}

}  // namespace
}  // namespace attune::testing
