#include "bank/location.h"

#include "bank/jsonl.h"
#include "bank/sample_records.h"
#include "base/error.h"
#include "io/temp_folder.h"
#include "providers/providers.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace attune {
namespace {

class Location : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"TUNE_BANK_PATH", "ATTUNE_TEAM_BANK", "XDG_DATA_HOME"}) unsetenv(name);
    set("HOME", folder_.file("home"));
  }
  void TearDown() override { SetUp(); }
  static void set(const char* name, const std::filesystem::path& value) { setenv(name, value.c_str(), 1); }

  TempFolder folder_{TempFolder::in_memory()};
};

TEST_F(Location, is_the_data_folder_of_the_user) {
  EXPECT_EQ(default_bank_paths().mine, folder_.file("home") / ".local/share/attune/bank.sqlite");
  set("XDG_DATA_HOME", folder_.file("data"));
  EXPECT_EQ(default_bank_paths().mine, folder_.file("data") / "attune/bank.sqlite");
  set("XDG_DATA_HOME", "relative");
  EXPECT_EQ(default_bank_paths().mine, folder_.file("home") / ".local/share/attune/bank.sqlite");
  unsetenv("HOME");
  EXPECT_THROW(default_bank_paths(), UserError);
}

TEST_F(Location, is_a_file_or_a_folder_in_tune_bank_path) {
  std::filesystem::create_directory(folder_.file("v1.2"));
  for (const auto& [given, file] : {std::pair{"banks", "banks/bank.sqlite"},
                                    {"banks/", "banks/bank.sqlite"},
                                    {"my.banks/", "my.banks/bank.sqlite"},
                                    {"v1.2", "v1.2/bank.sqlite"},
                                    {"mine.sqlite", "mine.sqlite"},
                                    {"mine.db", "mine.db"}}) {
    set("TUNE_BANK_PATH", folder_.file(given));
    EXPECT_EQ(default_bank_paths().mine, folder_.file(file));
  }
  folder_.write("plain", "");
  set("TUNE_BANK_PATH", folder_.file("plain"));
  EXPECT_EQ(default_bank_paths().mine, folder_.file("plain"));
}

TEST_F(Location, opens_the_given_file_alone_and_the_default_in_layers) {
  set("ATTUNE_TEAM_BANK", folder_.write("team.jsonl", jsonl_line(sample_record(1))));
  open_one_bank("", BankAccess::read_write)->add(sample_record(2));
  EXPECT_EQ(ids_of(*open_bank("", BankAccess::read_write)).size(), 2u);
  EXPECT_EQ(ids_of(*open_one_bank("", BankAccess::read_write)).size(), 1u);
  EXPECT_EQ(ids_of(*open_bank(folder_.file("other.sqlite"), BankAccess::read_write)).size(), 0u);
  EXPECT_EQ(ids_of(*open_bank(folder_.file("team.jsonl"), BankAccess::read_write)).size(), 1u);
}

TEST_F(Location, that_cannot_be_meant_is_refused) {
  set("ATTUNE_TEAM_BANK", folder_.file("nowhere.sqlite"));
  EXPECT_THROW(open_bank("", BankAccess::read_write), UserError);
  EXPECT_THROW(open_bank(folder_.file("new.jsonl"), BankAccess::read_write), UserError);
  EXPECT_THROW(open_bank_file(folder_.file("nowhere.sqlite")), UserError);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("new.jsonl")));
}

TEST(PresentEnvironments, are_those_of_the_providers) {
  const EnvironmentOf present = present_environments();
  for (const Provider* provider : providers())
    EXPECT_EQ(present(std::string(provider->name())), provider->environment());
  EXPECT_FALSE(present("nobody"));
}

}  // namespace
}  // namespace attune
