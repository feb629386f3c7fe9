// Every provider's every implementation of the workloads in the *.cases files. One test for each section and provider.
#include "base/parallel.h"
#include "conformance/case_file.h"
#include "conformance/check_provider.h"
#include "ops/registry.h"
#include "providers/providers.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>

namespace attune::testing {

using namespace tune;

namespace {

constexpr int kSeeds = 2;

const std::vector<CaseSection>& all_sections() {
  static const std::vector<CaseSection> sections =
      read_case_files(std::filesystem::path(ATTUNE_TEST_SOURCE) / "conformance");
  return sections;
}

bool has_constants(const Workload& workload) {
  return std::ranges::any_of(workload.inputs, [](const auto& spec) { return spec && spec->constant; });
}

bool is_plain(const Workload& workload) {
  for (const auto* specs : {&workload.inputs, &workload.outputs})
    for (const auto& spec : *specs)
      if (spec && spec->layout != Layout::plain) return false;
  return true;
}

/// The reference serves every operator of the registry in plain layout.
bool reference_must_serve(const Workload& workload) {
  return is_plain(workload) && find_op(workload.domain, workload.op, workload.version) != nullptr;
}

/// The lines of a case in other layouts need the same numbers, which are computed once.
class Examples {
 public:
  const Example& get(const WorkloadCase& what, uint64_t seed) {
    WorkloadCase plain = what;
    for (auto& spec : plain.workload.inputs) {
      if (!spec) continue;
      spec->layout = Layout::plain;
      spec->constant = spec->zero = false;
    }
    std::string key = fmt::format("{} {}", seed, plain.workload.key());
    for (const Contents& contents : what.contents)
      key += fmt::format(" {}..{} [{}]", contents.low, contents.high, fmt::join(contents.values, " "));
    for (const OutputCase& output : what.outputs) {
      TensorSpec spec = output.spec;
      spec.layout = Layout::plain;
      key += " " + to_text(output.wanted ? std::optional(spec) : std::nullopt);
    }
    const auto found = made_.find(key);
    return found != made_.end() ? found->second : made_.emplace(key, make_example(plain, seed)).first->second;
  }

 private:
  std::map<std::string, Example> made_;
};

struct SectionOfProvider {
  const CaseSection* section;
  const Provider* provider;
};

void PrintTo(const SectionOfProvider& what, std::ostream* out) {
  *out << what.section->file << ".cases '" << what.section->name << "' with " << what.provider->name();
}

class Conformance : public ::testing::TestWithParam<SectionOfProvider> {
 protected:
  const CaseSection& section() const { return *GetParam().section; }
  const Provider& provider() const { return *GetParam().provider; }

  /// All that a written line stands for.
  void check_line(const CaseLine& line) {
    SCOPED_TRACE(fmt::format("{}.cases:{}", section().file, line.number));
    int configs = 0;
    for (const std::string& text : line.expanded) {
      try {
        const WorkloadCase what = parse_workload_case(text);
        configs += check_case(what, Constants::as_written);
        if (has_constants(what.workload)) configs += check_case(what, Constants::none);
      } catch (const Error& error) {
        ADD_FAILURE() << text << "\n  " << error.what();
      }
    }
    if (std::ranges::find(section().served_by, provider().name()) != section().served_by.end()) {
      EXPECT_GT(configs, 0) << provider().name() << " has nothing for " << line.expanded.front() << " and its variants";
    }
  }

 private:
  enum class Constants { as_written, none };  // none: every operand may change from run to run

  /// Returns the number of configs.
  int check_case(WorkloadCase what, Constants constants) {
    if (constants == Constants::none)
      for (auto& spec : what.workload.inputs)
        if (spec) spec->constant = spec->zero = false;
    // What the data decide (NonZero, Unique) is another workload for each seed.
    std::map<std::string, Workload> workloads;
    std::map<std::string, std::vector<Example>> examples;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const Example& example = examples_.get(what, seed);
      const Workload workload = complete_workload(what, example);
      examples[workload.key()].push_back(example);
      workloads.emplace(workload.key(), workload);
    }
    int configs = 0;
    for (const auto& [key, workload] : workloads) {
      const ProviderCheck result = check_provider(provider(), workload, examples[key]);
      for (const std::string& failure : result.failures) ADD_FAILURE() << failure;
      if (provider().name() == "reference" && reference_must_serve(workload)) {
        EXPECT_EQ(result.refusal, "") << key;
      }
      if (constants == Constants::as_written) check_refusal(key, result.refusal);
      configs += result.configs;
    }
    return configs;
  }

  void check_refusal(const std::string& key, const std::string& reason) const {
    const auto words = section().refused_by.find(std::string(provider().name()));
    if (words == section().refused_by.end()) return;
    EXPECT_NE(reason.find(words->second), std::string::npos) << key << "\n  the reason is '" << reason << "'";
  }

  Examples examples_;
};

TEST_P(Conformance, agrees_with_the_reference) {
  const int usual = thread_count();
  for (const int threads : section().threads.empty() ? std::vector<int>{usual} : section().threads) {
    SCOPED_TRACE(fmt::format("{} threads", threads));
    set_thread_count(threads);
    for (const CaseLine& line : section().lines) check_line(line);
  }
  set_thread_count(usual);
}

std::vector<SectionOfProvider> every_section_and_provider() try {
  std::vector<SectionOfProvider> all;
  for (const CaseSection& section : all_sections())
    for (const Provider* provider : every_provider()) all.push_back({&section, provider});
  return all;
} catch (const UserError&) {
  return {};  // tests cannot fail before main(); those of the coverage read the files again and report it
}

std::string test_name(const ::testing::TestParamInfo<SectionOfProvider>& info) {
  std::string name = info.param.section->file + "_" + info.param.section->name + "__";
  name += info.param.provider->name();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Suite, Conformance, ::testing::ValuesIn(every_section_and_provider()), test_name);

}  // namespace
}  // namespace attune::testing
