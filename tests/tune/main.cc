// The tests are their own worker: what they measure runs in this program, started again.
#include "tune/hostile_provider.h"
#include "tune/measure/worker.h"

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  const auto code = attune::tune::serve_if_worker(argc, argv, attune::testing::providers_with_hostile());
  if (code) return *code;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
