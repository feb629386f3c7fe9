// What was found about the layouts of a model, as a record of the bank: a job that goes on does not measure it again.
#pragma once

#include "bank/bank.h"
#include "job/layout_stage.h"
#include "job/trial_record.h"

namespace attune {

/// `plan` is the default one; records of another graph, device, number of threads or version of a provider do not
/// apply.
struct LayoutQuestion {
  const Plan& plan;
  const SessionOptions& session;
  int threads = 1;
};

Record layout_record(const LayoutQuestion& question, const LayoutFindings& findings, const RecordSource& source);

/// The newest that the bank has; nothing where it has none.
std::optional<LayoutFindings> recall_layouts(const LayoutQuestion& question, const Bank& bank);

}  // namespace attune
