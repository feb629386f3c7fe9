#include "job/layout_record.h"

#include "bank/device_fingerprint.h"
#include "base/sha256.h"
#include "job/layout_regions.h"
#include "job/opat_job.h"
#include "runtime/bank_advisor.h"

namespace attune {
namespace {

constexpr std::string_view kSource = "layouts";
constexpr Layout kLayouts[] = {Layout::plain, Layout::nhwc, Layout::nchw8c, Layout::nchw16c};

BankKey key_of(const LayoutQuestion& question) {
  BankKey key;
  key.device = device_text();
  key.workload = fmt::format("attune::Layouts@1(model {})", model_id(question.plan));
  key.mode = numeric_mode_name(question.session.mode);
  key.threads = question.threads;
  return key;
}

/// Kernels decide which layout is fast.
std::string environment_of(const SessionOptions& session) {
  std::string text;
  for (const Provider* provider : providers_of(session))
    text += fmt::format("{} {}\n", provider->name(), provider->environment());
  return sha256_hex(text);
}

/// Names of nodes may be any text, those of a config not: convolutions go by position.
std::string parameter(size_t position) { return fmt::format("convolution_{:04}", position); }

}  // namespace

Record layout_record(const LayoutQuestion& question, const LayoutFindings& findings, const RecordSource& source) {
  Record record;
  record.key = key_of(question);
  record.provider = kSource;
  record.environment = environment_of(question.session);
  const LayoutRegions regions = find_layout_regions(question.plan);
  for (size_t i = 0; i < regions.convolutions.size(); ++i)
    if (const auto found = findings.node_layouts.find(regions.convolutions[i]); found != findings.node_layouts.end())
      record.config[parameter(i)] = layout_name(found->second);
  for (const double ms :
       findings.comparison ? findings.comparison->after_ms : std::vector{findings.uniform_ms[0].second})
    record.samples_ns.push_back(ms * 1e6);
  if (findings.comparison) {
    const SessionComparison& measured = *findings.comparison;
    record.ratio = Ratio{1 / measured.ratio, 1 / measured.ratio_interval.high, 1 / measured.ratio_interval.low};
  }
  record.message = findings.conclusion;
  record.session = source.session;
  record.measured_at = source.measured_at;
  record.tool_version = ATTUNE_VERSION;
  return record;
}

std::optional<LayoutFindings> recall_layouts(const LayoutQuestion& question, const Bank& bank) {
  const std::vector<Record> records = bank.find(key_of(question));
  const Record* newest = nullptr;
  for (const Record& record : records) {
    if (record.provider != kSource || record.environment != environment_of(question.session)) continue;
    if (newest == nullptr || record.measured_at > newest->measured_at) newest = &record;
  }
  if (newest == nullptr) return std::nullopt;
  LayoutFindings findings;
  const LayoutRegions regions = find_layout_regions(question.plan);
  findings.convolutions = regions.convolutions.size();
  for (size_t i = 0; i < regions.convolutions.size(); ++i) {
    const auto found = newest->config.find(parameter(i));
    if (found == newest->config.end()) continue;
    for (const Layout layout : kLayouts)
      if (layout_name(layout) == found->second) findings.node_layouts[regions.convolutions[i]] = layout;
  }
  findings.moved = findings.node_layouts.size();
  findings.conclusion = newest->message + " (by the bank)";
  findings.from_bank = true;
  return findings;
}

}  // namespace attune
