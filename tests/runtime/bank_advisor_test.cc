// A record advises for exactly its key and for nothing else.
#include "runtime/bank_advisor.h"

#include "bank/device_fingerprint.h"
#include "bank/sqlite/sqlite_bank.h"
#include "io/temp_folder.h"
#include "kernel/parse_workload.h"
#include "providers/providers.h"

#include <gtest/gtest.h>

#include <functional>

namespace attune {
namespace {

constexpr int kThreads = 2;

Workload sample_workload() {
  return parse_workload(
      "Conv@17(f32[1x64x56x56]@nhwc, f32[64x64x3x3]*, f32[64]*) -> (f32[1x64x56x56]@nhwc) {auto_pad=NOTSET, "
      "dilations=[1, 1], group=1, kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[1, 1]}");
}

Record winner(const BankKey& key) {
  Record record;
  record.key = key;
  record.provider = "reference";
  record.environment = require_provider("reference").environment();
  record.config = {{"variant", "1"}};
  record.samples_ns = {100, 101, 102};
  record.ratio = Ratio{0.8, 0.75, 0.85};
  record.max_error = 1e-7;
  record.tolerance = 1e-5;
  record.measured_at = 1'700'000'000;
  record.message = model_message("m");
  record.session = "test";
  record.tool_version = "0";
  return record;
}

/// What a bank of this one record says of a workload.
std::optional<Advice> advice(const Record& record, const Workload& workload, int threads = kThreads) {
  const TempFolder folder(TempFolder::in_memory());
  auto bank = std::make_unique<SqliteBank>(folder.file("bank.sqlite"));
  static_cast<Bank&>(*bank).add(record);
  return BankAdvisor(std::move(bank), threads).advise(workload);
}

std::optional<Advice> advice_for(const Workload& workload, int threads = kThreads) {
  return advice(winner(bank_key(sample_workload(), kThreads)), workload, threads);
}

struct Change {
  const char* what;
  std::function<void(Workload&)> make;
};

TEST(BankAdvisor, advises_what_was_measured) {
  const auto advised = advice_for(sample_workload());
  ASSERT_TRUE(advised);
  EXPECT_EQ(advised->provider, "reference");
  EXPECT_EQ(advised->config, (Config{{"variant", "1"}}));
}

TEST(BankAdvisor, applies_no_record_of_another_workload) {
  std::vector<Change> changes = {
      {"operator", [](Workload& w) { w.op = "ConvTranspose"; }},
      {"domain", [](Workload& w) { w.domain = "com.microsoft"; }},
      {"version", [](Workload& w) { w.version = 18; }},
      {"numeric mode", [](Workload& w) { w.mode = NumericMode::high_performance; }},
      {"omitted input", [](Workload& w) { w.inputs[2].reset(); }},
      {"one input less", [](Workload& w) { w.inputs.pop_back(); }},
      {"one output more", [](Workload& w) { w.outputs.push_back(w.outputs[0]); }},
      {"attribute taken away", [](Workload& w) { w.attributes.erase("group"); }},
      {"attribute added", [](Workload& w) { w.attributes["alpha"] = 0.5f; }},
      {"attribute as text", [](Workload& w) { w.attributes["auto_pad"] = std::string("VALID"); }},
      {"attribute renamed",
       [](Workload& w) {
         w.attributes["groups"] = w.attributes.at("group");
         w.attributes.erase("group");
       }},
  };
  // Every number of every operand and every attribute, by one.
  const Workload sample = sample_workload();
  const auto add_specs = [&](std::vector<std::optional<TensorSpec>> Workload::*operands, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      changes.push_back({"dtype", [=](Workload& w) { (w.*operands)[i]->dtype = DType::bf16; }});
      changes.push_back({"layout", [=](Workload& w) {
                           Layout& layout = (w.*operands)[i]->layout;
                           layout = layout == Layout::plain ? Layout::nchw16c : Layout::plain;
                         }});
      changes.push_back({"constant", [=](Workload& w) { (w.*operands)[i]->constant = !(w.*operands)[i]->constant; }});
      changes.push_back({"rank", [=](Workload& w) { (w.*operands)[i]->dims.push_back(1); }});
      for (size_t d = 0; d < (sample.*operands)[i]->dims.size(); ++d)
        changes.push_back({"dim", [=](Workload& w) { ++(w.*operands)[i]->dims[d]; }});
    }
  };
  add_specs(&Workload::inputs, sample.inputs.size());
  add_specs(&Workload::outputs, sample.outputs.size());
  for (const auto& [name, attribute] : sample.attributes) {
    if (std::holds_alternative<int64_t>(attribute))
      changes.push_back({"number", [n = name](Workload& w) { ++std::get<int64_t>(w.attributes.at(n)); }});
    if (const auto* numbers = std::get_if<std::vector<int64_t>>(&attribute))
      for (size_t i = 0; i < numbers->size(); ++i)
        changes.push_back(
            {"list", [n = name, i](Workload& w) { ++std::get<std::vector<int64_t>>(w.attributes.at(n))[i]; }});
  }
  EXPECT_GT(changes.size(), 45u);
  std::set<std::string> keys{sample.key()};
  for (const Change& change : changes) {
    Workload workload = sample_workload();
    change.make(workload);
    EXPECT_FALSE(advice_for(workload)) << change.what << ": " << workload.key();
    EXPECT_TRUE(keys.insert(workload.key()).second) << "two changes have one key: " << workload.key();
  }
}

TEST(BankAdvisor, tells_zero_points_of_zero_and_contents_of_attributes_apart) {
  Workload quantized = parse_workload(
      "QLinearConv@10(u8[1x8x4x4], f32[scalar]*, u8[scalar]*, i8[8x8x1x1]*, f32[scalar]*, i8[scalar]*, f32[scalar]*, "
      "u8[scalar]*) -> (u8[1x8x4x4]) {}");
  const Record of_quantized = winner(bank_key(quantized, kThreads));
  EXPECT_TRUE(advice(of_quantized, quantized));
  quantized.inputs[2]->zero = true;
  EXPECT_FALSE(advice(of_quantized, quantized));

  Workload table = parse_workload("Relu@14(f32[4]) -> (f32[4]) {}");
  const auto with_tensor = [&](float number) {
    Tensor tensor = Tensor::allocate(DType::f32, {1});
    *tensor.mutable_data<float>() = number;
    table.attributes["table"] = tensor;
    return table;
  };
  const Record of_table = winner(bank_key(with_tensor(1), kThreads));
  EXPECT_TRUE(advice(of_table, with_tensor(1)));
  EXPECT_FALSE(advice(of_table, with_tensor(2)));
}

TEST(BankAdvisor, applies_no_record_of_other_threads_or_mode) {
  for (const int threads : {1, 3, 4}) EXPECT_FALSE(advice_for(sample_workload(), threads)) << threads;
  Record other = winner(bank_key(sample_workload(), kThreads));
  other.key.mode = "high_performance";
  EXPECT_FALSE(advice(other, sample_workload()));
}

TEST(BankAdvisor, applies_no_record_of_another_device) {
  const std::vector<std::pair<const char*, std::function<void(CpuInfo&)>>> changes = {
      {"vendor", [](CpuInfo& info) { info.vendor += "x"; }},
      {"family", [](CpuInfo& info) { ++info.family; }},
      {"model", [](CpuInfo& info) { ++info.model; }},
      {"stepping", [](CpuInfo& info) { ++info.stepping; }},
      {"hypervisor", [](CpuInfo& info) { info.virtual_machine = !info.virtual_machine; }},
      {"cores", [](CpuInfo& info) { ++info.usable_cores; }},
      {"one cache less", [](CpuInfo& info) { info.caches.pop_back(); }},
  };
  const auto expect_nothing = [](const CpuInfo& info, const std::string& what) {
    Record record = winner(bank_key(sample_workload(), kThreads));
    record.key.device = device_text(info);
    EXPECT_FALSE(advice(record, sample_workload())) << what;
  };
  ASSERT_FALSE(cpu_info().caches.empty());
  for (const auto& [what, change] : changes) {
    CpuInfo info = cpu_info();
    change(info);
    expect_nothing(info, what);
  }
  for (size_t i = 0; i < cpu_info().isa.size(); ++i) {
    CpuInfo info = cpu_info();
    info.isa[i].usable = !info.isa[i].usable;
    expect_nothing(info, "isa " + std::string(info.isa[i].name));
  }
  for (size_t i = 0; i < cpu_info().caches.size(); ++i) {
    CpuInfo size = cpu_info(), sharing = cpu_info(), level = cpu_info();
    size.caches[i].size_bytes *= 2;
    ++sharing.caches[i].shared_by;
    ++level.caches[i].level;
    for (const CpuInfo& info : {size, sharing, level}) expect_nothing(info, "cache " + std::to_string(i));
  }
}

TEST(BankAdvisor, applies_no_record_of_another_environment_of_its_provider) {
  for (const Provider* provider : providers()) {
    Record record = winner(bank_key(sample_workload(), kThreads));
    record.provider = provider->name();
    record.environment = provider->environment();
    EXPECT_TRUE(advice(record, sample_workload())) << provider->name();
    record.environment += ", one more patch";
    EXPECT_FALSE(advice(record, sample_workload())) << provider->name();
    if (provider->environment().empty()) continue;
    record.environment = "";
    EXPECT_FALSE(advice(record, sample_workload())) << provider->name();
  }
  Record gone = winner(bank_key(sample_workload(), kThreads));
  gone.provider = "a provider that this build does not have";
  EXPECT_FALSE(advice(gone, sample_workload()));
}

TEST(BankAdvisor, applies_no_record_that_is_no_proof) {
  const Record sample = winner(bank_key(sample_workload(), kThreads));
  Record tie = sample, unchecked = sample, off = sample;
  tie.ratio = Ratio{0.95, 0.9, 1.0};
  unchecked.max_error.reset();
  off.max_error = 1e-3;
  for (const Record& record : {tie, unchecked, off}) EXPECT_FALSE(advice(record, sample_workload()));
}

}  // namespace
}  // namespace attune
