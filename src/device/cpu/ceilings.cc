#include "device/cpu/ceilings.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "device/cpu/amx.h"
#include "device/cpu/ceiling_kernels.h"
#include "graph/tensor.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>

namespace attune {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<uint64_t> sink;  // where results go, so that computing them is not optimised away

/// One call does a small piece of work (some 10 µs) for a thread and returns its amount.
using Piece = std::function<double(int thread)>;

/// Amount of work per second with `threads` threads at once: the best of some windows. Every thread keeps to the same
/// windows, so that a thread that was never started, or came late, counts as nothing instead of as another core.
double rate_of_windows(int threads, const CeilingOptions& options, const Piece& piece) {
  const auto window = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double, std::milli>(std::max(0.1, options.window_ms)));
  const int windows = std::max(1, options.windows);
  std::vector<double> rates(static_cast<size_t>(threads) * static_cast<size_t>(windows), 0.0);
  const Clock::time_point start = Clock::now() + std::chrono::milliseconds(1);  // all threads are awake by then
  parallel_for(threads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t thread = begin; thread < end; ++thread) {
      for (int w = 0; w < windows; ++w) {
        while (Clock::now() < start + w * window) {}
        const Clock::time_point window_end = start + (w + 1) * window;
        const Clock::time_point first = Clock::now();
        Clock::time_point now = first;
        double work = 0;
        while (now < window_end) {
          work += piece(static_cast<int>(thread));
          now = Clock::now();
        }
        const std::chrono::duration<double> elapsed = now - first;
        if (work > 0) rates[static_cast<size_t>(int64_t{w} * threads + thread)] = work / elapsed.count();
      }
    }
  });
  double best = 0;
  for (int w = 0; w < windows; ++w) {
    double sum = 0;
    for (int thread = 0; thread < threads; ++thread) sum += rates[static_cast<size_t>(w * threads + thread)];
    best = std::max(best, sum);
  }
  return best;
}

/// On a crowded machine a thread can sleep through all of its windows; nothing is not a measurement, so it tries again.
double best_rate(int threads, const CeilingOptions& options, const Piece& piece) {
  constexpr int kMostTries = 100;
  for (int i = 0; i < kMostTries; ++i)
    if (const double rate = rate_of_windows(threads, options, piece); rate > 0) return rate;
  return 0;
}

struct Arithmetic {
  std::string_view id, what, unit;
  std::vector<std::string_view> needs;
  ArithmeticLoop loop;
  double ops;      // in a round
  int64_t rounds;  // of a piece: some 10 µs
};

constexpr int64_t kVectorRounds = 4096;
constexpr int64_t kTileRounds = 512;

/// Best first among those of one id.
std::vector<Arithmetic> arithmetic_list() {
  return {
      {"f32", "fp32 multiply-add, AVX-512", "GF/s", {"avx512f"}, fma_f32_avx512, kFmaAvx512Ops, kVectorRounds},
      {"f32", "fp32 multiply-add, AVX2", "GF/s", {"avx2", "fma"}, fma_f32_avx2, kFmaAvx2Ops, kVectorRounds},
      {"f32", "fp32 multiply and add, SSE2", "GF/s", {}, multiply_add_f32_sse2, kFmaSse2Ops, kVectorRounds},
      {"bf16",
       "bf16 dot product, AVX-512",
       "GF/s",
       {"avx512f", "avx512_bf16"},
       dot_bf16_avx512,
       kDotBf16Avx512Ops,
       kVectorRounds},
      {"amx_bf16", "bf16 tiles, AMX", "GF/s", {"amx_tile", "amx_bf16"}, dot_bf16_amx, kDotBf16AmxOps, kTileRounds},
      {"int8",
       "int8 dot product, AVX-512",
       "GOP/s",
       {"avx512f", "avx512_vnni"},
       dot_int8_avx512,
       kDotInt8Avx512Ops,
       kVectorRounds},
      {"amx_int8", "int8 tiles, AMX", "GOP/s", {"amx_tile", "amx_int8"}, dot_int8_amx, kDotInt8AmxOps, kTileRounds},
  };
}

void measure_arithmetic(const CpuInfo& info, const CeilingOptions& options, std::vector<Ceiling>& ceilings) {
  for (const Arithmetic& kind : arithmetic_list()) {
    if (find_ceiling(ceilings, kind.id) != nullptr) continue;
    const bool usable =
        std::all_of(kind.needs.begin(), kind.needs.end(), [&](std::string_view isa) { return has_isa(info, isa); });
    const bool tiles = !kind.needs.empty() && kind.needs.front() == "amx_tile";
    if (!usable || (tiles && !request_amx())) continue;
    const Piece piece = [&](int) {
      sink += static_cast<uint64_t>(kind.loop(kind.rounds));
      return kind.ops * static_cast<double>(kind.rounds);
    };
    ceilings.push_back({kind.id, kind.what, kind.unit, best_rate(1, options, piece) / 1e9,
                        best_rate(options.threads, options, piece) / 1e9});
  }
}

/// Zeroed memory in huge pages where the system grants them.
class Pages {
 public:
  explicit Pages(int64_t bytes) : bytes_(static_cast<size_t>(bytes)) {
    check_memory(bytes, [] { return std::string("measuring the memory bandwidth"); });
    address_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address_ == MAP_FAILED) throw UserError("no memory to measure the bandwidth ({} MiB)", bytes >> 20);
    madvise(address_, bytes_, MADV_HUGEPAGE);  // only makes it faster
  }
  ~Pages() { munmap(address_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  std::span<uint64_t> words() const { return {static_cast<uint64_t*>(address_), bytes_ / sizeof(uint64_t)}; }

 private:
  size_t bytes_ = 0;
  void* address_ = nullptr;
};

constexpr size_t kGrainWords = 64;  // what the loops take at a time

/// The part of the words that thread i of n works on.
template <class Word> std::span<Word> share(std::span<Word> words, int thread, int threads) {
  const size_t part = words.size() / static_cast<size_t>(threads) / kGrainWords * kGrainWords;
  return words.subspan(static_cast<size_t>(thread) * part, part);
}

ReadLoop read_loop(const CpuInfo& info) {
  if (has_isa(info, "avx512f")) return read_avx512;
  return has_isa(info, "avx2") ? read_avx2 : read_sse2;
}

/// Walks through a thread's share piece by piece, over and over.
struct Walk {
  size_t position = 0;
  template <class Word> std::span<Word> next(std::span<Word> words, size_t piece) {
    if (position >= words.size()) position = 0;
    const std::span<Word> result = words.subspan(position, std::min(piece, words.size() - position));
    position += result.size();
    return result;
  }
};

int64_t bandwidth_buffer_bytes(const CpuInfo& info) {
  // Large enough that a cache shared with other machines cannot hold most of it, small enough to be touched in a
  // moment.
  int64_t last_cache = 0;
  for (const Cache& cache : info.caches) last_cache = std::max(last_cache, cache.size_bytes);
  const int64_t wanted = std::clamp<int64_t>(2 * last_cache, int64_t{128} << 20, int64_t{1} << 30);
  return std::max<int64_t>(int64_t{16} << 20, std::min(wanted, available_memory_bytes() / 4));
}

void measure_memory(const CpuInfo& info, CeilingOptions options, std::vector<Ceiling>& ceilings) {
  options.window_ms *= 2;  // pieces are larger and start cold
  const Pages pages(options.memory_bytes > 0 ? options.memory_bytes : bandwidth_buffer_bytes(info));
  const std::span<uint64_t> words = pages.words();
  constexpr size_t kPieceWords = (size_t{256} << 10) / sizeof(uint64_t);
  parallel_for(options.threads, 1, [&](int64_t begin, int64_t end) {  // each thread's pages near it
    for (int64_t t = begin; t < end; ++t)
      for (uint64_t& word : share(words, static_cast<int>(t), options.threads)) word = 1;
  });
  const ReadLoop read = read_loop(info);
  const auto rate = [&](int threads, const auto& work) {
    std::vector<Walk> walks(static_cast<size_t>(threads));
    return best_rate(
               threads, options,
               [&](int thread) { return work(share(words, thread, threads), walks[static_cast<size_t>(thread)]); }) /
           1e9;
  };
  const auto read_piece = [&](std::span<uint64_t> mine, Walk& walk) {
    const std::span<const uint64_t> piece = walk.next(mine, kPieceWords);
    sink += read(piece);
    return static_cast<double>(piece.size_bytes());
  };
  const auto copy_piece = [&](std::span<uint64_t> mine, Walk& walk) {
    const std::span<uint64_t> src = share(mine, 0, 2);
    const std::span<const uint64_t> piece = walk.next(src, kPieceWords);
    const auto offset = static_cast<size_t>(piece.data() - src.data());
    copy_past_caches(piece, share(mine, 1, 2).subspan(offset, piece.size()));
    return 2.0 * static_cast<double>(piece.size_bytes());
  };
  ceilings.push_back({"read", "memory read", "GB/s", rate(1, read_piece), rate(options.threads, read_piece)});
  ceilings.push_back(
      {"copy", "memory copy past the caches", "GB/s", rate(1, copy_piece), rate(options.threads, copy_piece)});
}

void measure_l2(const CpuInfo& info, const CeilingOptions& options, std::vector<Ceiling>& ceilings) {
  const auto l1 = data_cache(info, 1), l2 = data_cache(info, 2);
  if (!l1 || !l2) return;
  const int64_t bytes = l2->size_bytes / 2 / std::max(1, l2->shared_by);
  if (bytes < 2 * l1->size_bytes) return;  // it would be measured in L1
  const auto count = bytes / static_cast<int64_t>(sizeof(uint64_t)) / static_cast<int64_t>(kGrainWords * kGrainWords) *
                     static_cast<int64_t>(kGrainWords * kGrainWords);
  std::vector<Tensor> buffers;
  for (int i = 0; i < options.threads; ++i) buffers.push_back(Tensor::zeros(DType::u64, {count}));
  const ReadLoop read = read_loop(info);
  const Piece piece = [&](int thread) {
    const Tensor& buffer = buffers[static_cast<size_t>(thread)];
    sink += read(std::span(buffer.data<uint64_t>(), static_cast<size_t>(count)));
    return static_cast<double>(buffer.size_bytes());
  };
  ceilings.push_back({"l2_read", "L2 cache read", "GB/s", best_rate(1, options, piece) / 1e9,
                      best_rate(options.threads, options, piece) / 1e9});
}

}  // namespace

std::vector<Ceiling> measure_ceilings(const CpuInfo& info, const CeilingOptions& options) {
  CeilingOptions actual = options;
  if (actual.threads <= 0) actual.threads = thread_count();
  std::vector<Ceiling> ceilings;
  measure_arithmetic(info, actual, ceilings);
  measure_l2(info, actual, ceilings);
  measure_memory(info, actual, ceilings);
  return ceilings;
}

const Ceiling* find_ceiling(std::span<const Ceiling> ceilings, std::string_view id) {
  const auto found =
      std::find_if(ceilings.begin(), ceilings.end(), [&](const Ceiling& ceiling) { return ceiling.id == id; });
  return found == ceilings.end() ? nullptr : &*found;
}

}  // namespace attune
