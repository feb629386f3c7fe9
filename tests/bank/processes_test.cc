// Several processes on one bank, and processes that die while they write.
#include "bank/sample_records.h"
#include "bank/sqlite/sqlite_bank.h"
#include "io/temp_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

namespace attune {
namespace {

namespace fs = std::filesystem;

/// Runs `work` in a child that ends without touching what it inherited.
template <class Work> pid_t start_child(const Work& work) {
  const pid_t child = fork();
  if (child != 0) return child;
  int code = 0;
  try {
    work();
  } catch (const std::exception& error) {
    fmt::print(stderr, "child: {}\n", error.what());
    code = 1;
  }
  _exit(code);
}

int exit_code_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Record numbered_record(int64_t writer, int64_t number) {
  Record record = sample_record();
  record.session = fmt::format("writer {}", writer);
  record.measured_at += number;
  return record;
}

TEST(SqliteBank, keeps_what_several_processes_write_at_once) {
  constexpr int64_t kWriters = 4, kRecords = 40;
  const TempFolder folder(TempFolder::in_memory());
  const fs::path path = folder.file("bank.sqlite");  // they also compete for creating it
  std::vector<pid_t> children;
  for (int64_t writer = 0; writer < kWriters; ++writer)
    children.push_back(start_child([&] {
      SqliteBank bank(path);
      for (int64_t i = 0; i < kRecords; ++i) {
        bank.add(numbered_record(writer, i));
        bank.add(numbered_record(-1, i));  // all of them have these
        bank.find(sample_key());
      }
    }));
  for (const pid_t child : children) EXPECT_EQ(exit_code_of(child), 0);
  const SqliteBank bank(path);
  const std::set<std::string> ids = ids_of(bank);
  EXPECT_EQ(ids.size(), static_cast<size_t>((kWriters + 1) * kRecords));
  for (int64_t writer = -1; writer < kWriters; ++writer)
    for (int64_t i = 0; i < kRecords; ++i) EXPECT_TRUE(ids.contains(record_id(numbered_record(writer, i))));
  EXPECT_TRUE(bank.verify().problems.empty());
}

TEST(SqliteBank, is_made_once_when_several_processes_start_it) {
  constexpr int kFiles = 25, kWriters = 4;
  const TempFolder folder(TempFolder::in_memory());
  for (int file = 0; file < kFiles; ++file) {
    const fs::path path = folder.file(fmt::format("bank{}.sqlite", file));
    std::vector<pid_t> children;
    for (int64_t writer = 0; writer < kWriters; ++writer)
      children.push_back(start_child([&] {
        SqliteBank bank(path);
        bank.find(sample_key());
        bank.add(numbered_record(writer, 0));
      }));
    for (const pid_t child : children) EXPECT_EQ(exit_code_of(child), 0);
    EXPECT_EQ(ids_of(SqliteBank(path)).size(), static_cast<size_t>(kWriters));
  }
}

TEST(SqliteBank, refuses_to_be_used_across_fork) {
  const TempFolder folder;
  SqliteBank bank(folder.file("bank.sqlite"));
  bank.add(sample_record());
  const pid_t child = start_child([&] { bank.add(sample_record(1)); });
  EXPECT_EQ(exit_code_of(child), 1);
  EXPECT_EQ(bank.add(sample_record(2)).added, 1);
}

struct Killed {
  int64_t acknowledged = 0;
};
enum class KillAfter { start, first_record };  // what the delay begins with

/// A child adds records and acknowledges each through a pipe after add() returned; it is killed after `delay`.
Killed kill_a_writer(const fs::path& path, int64_t writer, KillAfter after, std::chrono::microseconds delay) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = start_child([&] {
    close(ends[0]);
    SqliteBank bank(path);
    for (int64_t i = 0;; ++i) {
      bank.add(numbered_record(writer, i));
      if (write(ends[1], "x", 1) != 1) return;
    }
  });
  close(ends[1]);
  Killed killed;
  char bytes[256];
  if (after == KillAfter::first_record) killed.acknowledged += std::max<ssize_t>(0, read(ends[0], bytes, 1));
  std::this_thread::sleep_for(delay);
  kill(child, SIGKILL);
  exit_code_of(child);
  for (ssize_t n = read(ends[0], bytes, sizeof bytes); n > 0; n = read(ends[0], bytes, sizeof bytes))
    killed.acknowledged += n;
  close(ends[0]);
  return killed;
}

TEST(SqliteBank, keeps_acknowledged_records_after_kill) {
  const char* given = std::getenv("ATTUNE_TEST_SEED");
  const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  fmt::print("seed {} (ATTUNE_TEST_SEED)\n", seed);
  Random random(seed);
  constexpr int kFilesInMemory = 12, kFiles = 14, kKillsOfOneFile = 25;
  int64_t acknowledged = 0, unacknowledged = 0;
  for (int file = 0; file < kFiles; ++file) {
    const bool in_memory = file < kFilesInMemory;
    const TempFolder folder(in_memory ? TempFolder::in_memory() : fs::temp_directory_path());
    const fs::path path = folder.file("bank.sqlite");
    std::set<std::string> promised;
    for (int64_t writer = 0; writer < kKillsOfOneFile; ++writer) {
      // From the start, delays hit the opening and the making of the tables; later, the records.
      const KillAfter after = writer % 3 == 0 ? KillAfter::start : KillAfter::first_record;
      const std::chrono::microseconds delay(random.below(in_memory ? 3'000 : 12'000));
      const Killed killed = kill_a_writer(path, writer, after, delay);
      for (int64_t i = 0; i < killed.acknowledged; ++i) promised.insert(record_id(numbered_record(writer, i)));
    }
    SqliteBank bank(path);
    const std::set<std::string> kept = ids_of(bank);
    for (const std::string& id : promised) EXPECT_TRUE(kept.contains(id)) << "lost; seed " << seed;
    EXPECT_TRUE(bank.verify().problems.empty()) << "seed " << seed;
    EXPECT_EQ(bank.add(sample_record()).added, 1) << "still writable; seed " << seed;
    acknowledged += static_cast<int64_t>(promised.size());
    unacknowledged += static_cast<int64_t>(kept.size() - promised.size());
  }
  fmt::print("{} kills, {} records acknowledged, {} written but not acknowledged\n", kFiles * kKillsOfOneFile,
             acknowledged, unacknowledged);
  EXPECT_GE(acknowledged, kFiles * kKillsOfOneFile * 2 / 3 - kFiles);
}

}  // namespace
}  // namespace attune
