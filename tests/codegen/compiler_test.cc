#include "codegen/compile_text.h"

#include <chrono>
#include <thread>

namespace attune::testing {
namespace {

TEST(Compiler, makes_code_that_runs) {
  SKIP_WITHOUT_COMPILER();
  const CompiledObject object = compile_text("extern \"C\" int kernel(int a, int b) { return a * 10 + b; }");
  ASSERT_TRUE(object.ok()) << object.error;
  EXPECT_EQ(function_of<int (*)(int, int)>(*LoadedObject::load(object.object), "kernel")(4, 2), 42);
}

TEST(Compiler, reports_mistakes_as_a_value_with_their_place) {
  SKIP_WITHOUT_COMPILER();
  const CompiledObject object = compile_text("\nint kernel() { return nothing; }");
  EXPECT_FALSE(object.ok());
  EXPECT_NE(object.error.find("kernel.cc:2:"), std::string::npos) << object.error;
  EXPECT_NE(object.error.find("nothing"), std::string::npos) << object.error;
  EXPECT_TRUE(object.object.empty());
}

TEST(Compiler, uses_no_instruction_set_that_is_masked) {
  SKIP_WITHOUT_COMPILER();
  const GeneratedSource source{
      "typedef float v __attribute__((ext_vector_type(16)));"
      "extern \"C\" void kernel(v* p) { *p = *p + *p; }",
      "kernel"};
  const auto text = [&](Isa isa) {
    CompileOptions options;
    options.isa = isa;
    return find_compiler().compiler->assembly(source, options).text;
  };
  EXPECT_NE(text(Isa::avx512).find("%zmm"), std::string::npos);
  EXPECT_EQ(text(Isa::avx2).find("%zmm"), std::string::npos);
  EXPECT_NE(text(Isa::avx2).find("%ymm"), std::string::npos);
  EXPECT_EQ(text(Isa::baseline).find("%ymm"), std::string::npos);
}

TEST(Compiler, serves_several_threads_at_once) {
  SKIP_WITHOUT_COMPILER();
  std::vector<std::thread> threads;
  std::vector<int> results(4, -1);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&results, i] {
      for (int round = 0; round < 5; ++round) {
        const auto object = compile_text("extern \"C\" int kernel() { return " + std::to_string(i) + "; }");
        if (object.ok())
          results[static_cast<size_t>(i)] = function_of<int (*)()>(*LoadedObject::load(object.object), "kernel")();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(results, (std::vector<int>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace attune::testing
