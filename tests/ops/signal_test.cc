#include "ops/op_case.h"

#include "base/error.h"
#include "ops/fft.h"

#include <numbers>

namespace attune::test {
namespace {

std::vector<Complex> naive_transform(const std::vector<Complex>& data) {
  std::vector<Complex> out(data.size());
  const auto n = static_cast<double>(data.size());
  for (size_t k = 0; k < data.size(); ++k) {
    for (size_t i = 0; i < data.size(); ++i) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(k * i % data.size()) / n;
      out[k] = out[k] + data[i] * Complex{std::cos(angle), std::sin(angle)};
    }
  }
  return out;
}

TEST(Fft, agrees_with_the_definition_for_any_length_and_inverts) {
  for (const int64_t length : {1, 2, 3, 5, 8, 12, 97, 128, 400}) {
    std::vector<Complex> data(static_cast<size_t>(length));
    for (size_t i = 0; i < data.size(); ++i) data[i] = {std::sin(1.0 + static_cast<double>(i * i)), 0.1};
    const std::vector<Complex> expected = naive_transform(data);
    std::vector<Complex> actual = data, scratch;
    Fft(length, Fft::Direction::forward).run(actual.data(), scratch);
    for (size_t i = 0; i < data.size(); ++i) {
      EXPECT_NEAR(actual[i].re, expected[i].re, 1e-9) << "length " << length << " bin " << i;
      EXPECT_NEAR(actual[i].im, expected[i].im, 1e-9) << "length " << length << " bin " << i;
    }
    Fft(length, Fft::Direction::inverse).run(actual.data(), scratch);
    for (size_t i = 0; i < data.size(); ++i) EXPECT_NEAR(actual[i].re, data[i].re, 1e-12);
  }
}

TEST(DFT, transforms_a_middle_axis_and_pads_to_the_length) {
  const auto full = OpCase("DFT", 20).input(f32({1, 2, 1, 1}, {1, 1})).input(i64({}, {4})).input(i64({}, {1})).run()[0];
  expect_near(full, f32({1, 4, 1, 2}, {2, 0, 1, -1, 0, 0, 1, 1}));
}

TEST(DFT, returns_half_of_a_real_spectrum_and_inverts_it) {
  const auto half = OpCase("DFT", 17).input(f32({1, 4, 1}, {1, 2, 3, 5})).attr("onesided", int64_t{1}).run()[0];
  EXPECT_EQ(half.dims(), (Dims{1, 3, 2}));
  const auto back = OpCase("DFT", 17).input(half).attr("onesided", int64_t{1}).attr("inverse", int64_t{1}).run()[0];
  expect_near(back, f32({1, 4, 1}, {1, 2, 3, 5}));
}

TEST(DFT, refuses_what_is_no_signal) {
  EXPECT_THROW(OpCase("DFT", 20).input(f32({1, 3}, {1, 2, 3})).run(), UserError);
  EXPECT_THROW(OpCase("DFT", 20).input(f32({3, 1}, {1, 2, 3})).input(i64({}, {0})).run(), UserError);
  EXPECT_THROW(OpCase("DFT", 20).input(f32({3, 1}, {1, 2, 3})).no_input().input(i64({}, {1})).run(), UserError);
}

TEST(STFT, windows_overlapping_frames) {
  const auto out =
      OpCase("STFT", 17).input(f32({1, 4, 1}, {1, 2, 3, 4})).input(i64({}, {2})).input(f32({2}, {1, 2})).run()[0];
  expect_near(out, f32({1, 2, 2, 2}, {5, 0, -3, 0, 11, 0, -5, 0}));
}

TEST(STFT, refuses_frames_longer_than_the_signal) {
  EXPECT_THROW(
      OpCase("STFT", 17).input(f32({1, 2, 1}, {1, 2})).input(i64({}, {1})).no_input().input(i64({}, {3})).run(),
      UserError);
}

TEST(Window, is_periodic_unless_told) {
  expect_near(OpCase("HannWindow", 17).input(i64({}, {4})).run()[0], f32({4}, {0, 0.5f, 1, 0.5f}));
  expect_near(OpCase("HannWindow", 17).input(i64({}, {3})).attr("periodic", int64_t{0}).run()[0], f32({3}, {0, 1, 0}));
  EXPECT_THROW(OpCase("HannWindow", 17).input(i64({}, {-1})).run(), UserError);
}

TEST(MelWeightMatrix, refuses_frequencies_outside_the_spectrum) {
  EXPECT_THROW(OpCase("MelWeightMatrix", 17)
                   .input(i64({}, {8}))
                   .input(i64({}, {16}))
                   .input(i64({}, {8000}))
                   .input(f32({}, {0}))
                   .input(f32({}, {80000}))
                   .run(),
               UserError);
}

}  // namespace
}  // namespace attune::test
