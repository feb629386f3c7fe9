#include "base/error.h"
#include "base/random.h"
#include "codegen/compile_text.h"
#include "codegen/elf_object.h"

#include <cstring>

namespace attune::testing {
namespace {

constexpr const char* kText = R"(
static int counter = 5;
static int zeroed[100];
static const float table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static float twice(float x) { return 2 * x; }
static float half(float x) { return x / 2; }
static float (*const functions[2])(float) = {twice, half};
extern "C" int kernel() { return ++counter + zeroed[7]; }
extern "C" float pick(int i, float x) { return functions[i & 1](table[i & 7] + x); }
extern "C" void copy(char* to, const char* from, long n) { __builtin_memcpy(to, from, n); }
)";

std::vector<std::byte> sample_object() {
  const CompiledObject object = compile_text(kText);
  EXPECT_TRUE(object.ok()) << object.error;
  return object.object;
}

TEST(LoadedObject, has_code_constants_data_and_zeroed_memory) {
  SKIP_WITHOUT_COMPILER();
  const auto object = LoadedObject::load(sample_object());
  const auto count = function_of<int (*)()>(*object, "kernel");
  EXPECT_EQ(count(), 6);
  EXPECT_EQ(count(), 7);
  const auto pick = function_of<float (*)(int, float)>(*object, "pick");
  EXPECT_EQ(pick(2, 0.5f), 7.0f);
  EXPECT_EQ(pick(3, 0.5f), 2.25f);
}

TEST(LoadedObject, keeps_the_data_of_two_copies_apart) {
  SKIP_WITHOUT_COMPILER();
  const auto bytes = sample_object();
  const auto a = LoadedObject::load(bytes), b = LoadedObject::load(bytes);
  function_of<int (*)()>(*a, "kernel")();
  EXPECT_EQ(function_of<int (*)()>(*b, "kernel")(), 6);
}

TEST(LoadedObject, calls_memcpy_and_nothing_else_outside) {
  SKIP_WITHOUT_COMPILER();
  const auto object = LoadedObject::load(sample_object());
  char to[4] = {};
  function_of<void (*)(char*, const char*, long)>(*object, "copy")(to, "abc", 4);
  EXPECT_STREQ(to, "abc");
  const auto other =
      compile_text("extern \"C\" int system(const char*); extern \"C\" int kernel() { return system(\"\"); }");
  ASSERT_TRUE(other.ok());
  EXPECT_THROW(LoadedObject::load(other.object), UserError);
}

TEST(LoadedObject, refuses_constructors_that_would_not_run) {
  SKIP_WITHOUT_COMPILER();
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer adds constructors of its own";
#endif
  const auto object =
      compile_text("static volatile int y = 1; static int x = y + 1; extern \"C\" int kernel() { return x; }");
  ASSERT_TRUE(object.ok()) << object.error;
  EXPECT_THROW(LoadedObject::load(object.object), UserError);
}

TEST(LoadedObject, names_a_function_that_is_missing) {
  SKIP_WITHOUT_COMPILER();
  const auto object = LoadedObject::load(sample_object());
  EXPECT_THROW(static_cast<void>(object->function("absent")), UserError);
}

TEST(LoadedObject, refuses_what_is_no_object) {
  EXPECT_THROW(LoadedObject::load({}), UserError);
  EXPECT_THROW(LoadedObject::load(std::vector<std::byte>(4096)), UserError);
}

TEST(LoadedObject, refuses_every_truncation) {
  SKIP_WITHOUT_COMPILER();
  const auto bytes = sample_object();
  // The section headers come last, so that no prefix is whole.
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(LoadedObject::load(std::span(bytes).first(size)), UserError) << size << " of " << bytes.size();
}

TEST(LoadedObject, survives_damage) {
  SKIP_WITHOUT_COMPILER();
  const auto whole = sample_object();
  const uint64_t seed = 20261115;
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  Random random(seed);
  int refused = 0;
  constexpr int kRounds = 20000;
  for (int round = 0; round < kRounds; ++round) {
    auto bytes = whole;
    const auto count = 1 + random.below(4);
    for (int64_t i = 0; i < count; ++i)
      bytes[static_cast<size_t>(random.below(static_cast<int64_t>(bytes.size())))] =
          static_cast<std::byte>(random.below(256));
    try {
      static_cast<void>(LoadedObject::load(bytes));  // not run: only loading has to be safe
    } catch (const UserError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, kRounds / 20);
}

}  // namespace
}  // namespace attune::testing
