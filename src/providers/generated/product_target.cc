#include "providers/generated/product_target.h"

#include "base/parallel.h"
#include "codegen/isa.h"
#include "device/cpu/cpu_info.h"
#include "device/cpu/vector_turns.h"

#include <algorithm>

namespace attune::generated {

ProductTarget host_target() {
  ProductTarget target;
  const Isa isa = usable_isa();
  target.isa = {isa >= Isa::avx512 ? 16 : 8, isa >= Isa::avx512_bf16, isa >= Isa::avx512};
  if (isa >= Isa::avx512) target.wide_turns = wide_vector_turns();
  target.vectors = isa >= Isa::avx2;
  target.amx = isa >= Isa::amx;
  target.threads = thread_count();
  if (const auto l1 = data_cache(cpu_info(), 1)) target.l1_bytes = l1->size_bytes / std::max(1, l1->shared_by);
  if (const auto l2 = data_cache(cpu_info(), 2)) target.l2_bytes = l2->size_bytes / std::max(1, l2->shared_by);
  return target;
}

}  // namespace attune::generated
