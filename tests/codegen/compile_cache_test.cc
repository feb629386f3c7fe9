#include "codegen/compile_cache.h"

#include "base/error.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <thread>

namespace attune {
namespace {

namespace fs = std::filesystem;
using Mode = CompileCacheOptions::Mode;

class CompileCacheFolder : public ::testing::Test {
 protected:
  void SetUp() override { folder_ = fs::temp_directory_path() / ("attune_cache_" + std::to_string(getpid())); }
  void TearDown() override { fs::remove_all(folder_); }
  CompileCache cache(Mode mode = Mode::enable, int64_t limit_bytes = 1 << 20) const {
    CompileCacheOptions options;
    options.mode = mode;
    options.folder = folder_;
    options.limit_bytes = limit_bytes;
    return CompileCache(options);
  }
  static std::vector<std::byte> bytes(const std::string& text) {
    std::vector<std::byte> out(text.size());
    std::memcpy(out.data(), text.data(), text.size());
    return out;
  }
  fs::path folder_;
};

TEST_F(CompileCacheFolder, gives_back_what_was_stored) {
  EXPECT_FALSE(cache().find("key"));
  cache().store("key", bytes("object"));
  EXPECT_EQ(cache().find("key"), bytes("object"));
  EXPECT_FALSE(cache().find("other key"));
}

TEST_F(CompileCacheFolder, neither_reads_nor_writes_when_disabled) {
  cache(Mode::disable).store("key", bytes("object"));
  EXPECT_FALSE(cache().find("key"));
  cache().store("key", bytes("object"));
  EXPECT_FALSE(cache(Mode::disable).find("key"));
}

TEST_F(CompileCacheFolder, replaces_entries_when_forced) {
  cache().store("key", bytes("old"));
  EXPECT_FALSE(cache(Mode::force).find("key"));
  cache(Mode::force).store("key", bytes("new"));
  EXPECT_EQ(cache().find("key"), bytes("new"));
}

TEST_F(CompileCacheFolder, takes_a_damaged_entry_for_absent) {
  cache().store("key", bytes("object"));
  const fs::path path = cache().path_of("key");
  const auto size = fs::file_size(path);
  for (uintmax_t at = 0; at < size; ++at) {
    cache().store("key", bytes("object"));
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const int before = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(before ^ 0x40));
    file.close();
    EXPECT_FALSE(cache().find("key")) << "byte " << at;
  }
  cache().store("key", bytes("object"));
  fs::resize_file(path, size - 1);
  EXPECT_FALSE(cache().find("key"));
}

TEST_F(CompileCacheFolder, removes_what_was_used_longest_ago) {
  const std::string object(1000, 'x');
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(10);
  for (int i = 0; i < 10; ++i) {
    const std::string key = "key " + std::to_string(i);
    cache().store(key, bytes(object));
    fs::last_write_time(cache().path_of(key), long_ago + std::chrono::minutes(i));
  }
  EXPECT_TRUE(cache().find("key 0"));  // a use
  cache(Mode::enable, 5000).trim();
  EXPECT_TRUE(cache().find("key 0"));
  EXPECT_FALSE(cache().find("key 1"));
  EXPECT_TRUE(cache().find("key 9"));
}

TEST_F(CompileCacheFolder, is_shared_by_writers_and_readers) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const std::string key = "key " + std::to_string(i % 7), object = "object of " + key;
        cache().store(key, bytes(object));
        if (cache().find(key) != bytes(object)) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(CompileCacheKey, depends_on_text_compiler_and_flags) {
  const GeneratedSource source{"int x;", "kernel"};
  CompileOptions options;
  const std::string key = compile_cache_key(source, "clang 1", options);
  EXPECT_NE(key, compile_cache_key({"int y;", "kernel"}, "clang 1", options));
  EXPECT_NE(key, compile_cache_key(source, "clang 2", options));
  options.isa = Isa::avx2;
  EXPECT_NE(key, compile_cache_key(source, "clang 1", options));
}

TEST(CompileCacheOptions, refuse_unknown_modes) {
  setenv("ATTUNE_COMPILE_CACHE", "perhaps", 1);
  EXPECT_THROW(compile_cache_options(), UserError);
  unsetenv("ATTUNE_COMPILE_CACHE");
}

}  // namespace
}  // namespace attune
