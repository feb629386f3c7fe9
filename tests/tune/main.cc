// The tests are their own worker: what they measure runs in this program, started again.
#include "tune/hostile_provider.h"
#include "tune/measure/worker.h"

#include <gtest/gtest.h>

// Under AddressSanitizer, signals are to end a worker as they do elsewhere.
extern "C" const char* __asan_default_options() {  // NOLINT(bugprone-reserved-identifier): the sanitizer's name
  return "handle_segv=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0:detect_leaks=0";
}

int main(int argc, char** argv) {
  const auto code = attune::tune::serve_if_worker(argc, argv, attune::testing::providers_with_hostile());
  if (code) return *code;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
