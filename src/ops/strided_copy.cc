#include "ops/strided_copy.h"

#include "base/parallel.h"
#include "ops/strided_walk.h"

#include <algorithm>
#include <cstring>

namespace attune {
namespace {

constexpr int64_t kGrain = 16384;  // elements worth a thread
constexpr int64_t kTile = 32;      // rows of one tile of any element size fit the first cache level

struct Axis {
  int64_t size, dst, src;  // strides in elements
};

/// The axes without those of size one, neighbours joined where one walk covers both.
std::vector<Axis> joined_axes(std::span<const int64_t> dims, std::span<const int64_t> dst_strides,
                              std::span<const int64_t> src_strides) {
  std::vector<Axis> axes;
  for (size_t i = 0; i < dims.size(); ++i) {
    const Axis axis{dims[i], dst_strides[i], src_strides[i]};
    if (axis.size == 1) continue;
    if (!axes.empty() && axes.back().dst == axis.size * axis.dst && axes.back().src == axis.size * axis.src)
      axes.back() = {axes.back().size * axis.size, axis.dst, axis.src};
    else
      axes.push_back(axis);
  }
  return axes;
}

StridedWalk<2> walk_over(const std::vector<Axis>& axes) {
  Dims dims, dst, src;
  for (const Axis& axis : axes) {
    dims.push_back(axis.size);
    dst.push_back(axis.dst);
    src.push_back(axis.src);
  }
  return StridedWalk<2>(dims, {dst, src});
}

int64_t total(const std::vector<Axis>& axes) {
  int64_t count = 1;
  for (const Axis& axis : axes) count *= axis.size;
  return count;
}

template <class T> void copy_row(T* dst, const T* src, const Axis& row) {
  if (row.dst == 1 && row.src == 1)
    std::memcpy(dst, src, static_cast<size_t>(row.size) * sizeof(T));
  else if (row.dst == 1 && row.src == 0)
    std::fill_n(dst, row.size, *src);
  else
    for (int64_t i = 0; i < row.size; ++i) dst[i * row.dst] = src[i * row.src];
}

template <class T> void copy_rows(T* dst, const T* src, std::vector<Axis> axes) {
  const Axis row = axes.back();
  axes.pop_back();
  if (axes.empty()) {
    parallel_for(row.size, kGrain, [&](int64_t begin, int64_t end) {
      copy_row(dst + begin * row.dst, src + begin * row.src, {end - begin, row.dst, row.src});
    });
    return;
  }
  parallel_for(total(axes), std::max<int64_t>(1, kGrain / row.size), [&](int64_t begin, int64_t end) {
    StridedWalk<2> walk = walk_over(axes);
    walk.seek(begin);
    for (int64_t i = begin; i < end; ++i, walk.next()) copy_row(dst + walk.offset(0), src + walk.offset(1), row);
  });
}

/// A transposition of the last axis, which lies dense in dst, with `across`, which lies dense in src: in tiles, so that
/// each cache line of either side is touched once.
template <class T> void copy_tiles(T* dst, const T* src, std::vector<Axis> axes, size_t across_index) {
  const Axis across = axes[across_index];
  const Axis row = axes.back();
  axes.pop_back();
  axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(across_index));
  const int64_t strips = (across.size + kTile - 1) / kTile;
  parallel_for(total(axes) * strips, std::max<int64_t>(1, kGrain / (kTile * row.size)),
               [&](int64_t begin, int64_t end) {
                 StridedWalk<2> walk = walk_over(axes);
                 walk.seek(begin / strips);
                 for (int64_t unit = begin; unit < end; ++unit) {
                   const int64_t first = unit % strips * kTile, last = std::min(first + kTile, across.size);
                   T* to = dst + walk.offset(0);
                   const T* from = src + walk.offset(1);
                   for (int64_t column = 0; column < row.size; column += kTile) {
                     const int64_t column_end = std::min(column + kTile, row.size);
                     for (int64_t i = first; i < last; ++i)
                       for (int64_t j = column; j < column_end; ++j) to[i * across.dst + j] = from[i + j * row.src];
                   }
                   if (unit % strips == strips - 1) walk.next();
                 }
               });
}

template <class T> void copy_typed(std::byte* dst_bytes, const std::byte* src_bytes, const std::vector<Axis>& axes) {
  T* dst = reinterpret_cast<T*>(dst_bytes);
  const T* src = reinterpret_cast<const T*>(src_bytes);
  if (axes.empty()) {
    *dst = *src;
    return;
  }
  const Axis& row = axes.back();
  if (row.dst == 1 && row.src != 1 && row.src != 0)
    for (size_t i = 0; i + 1 < axes.size(); ++i)
      if (axes[i].src == 1) return copy_tiles(dst, src, axes, i);
  copy_rows(dst, src, axes);
}

}  // namespace

void strided_copy(int element_bytes, std::span<const int64_t> dims, std::byte* dst,
                  std::span<const int64_t> dst_strides, const std::byte* src, std::span<const int64_t> src_strides) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return;
  const std::vector<Axis> axes = joined_axes(dims, dst_strides, src_strides);
  switch (element_bytes) {
    case 1: return copy_typed<uint8_t>(dst, src, axes);
    case 2: return copy_typed<uint16_t>(dst, src, axes);
    case 4: return copy_typed<uint32_t>(dst, src, axes);
    case 8: return copy_typed<uint64_t>(dst, src, axes);
    default: throw InternalError("elements of {} bytes cannot be copied", element_bytes);
  }
}

}  // namespace attune
