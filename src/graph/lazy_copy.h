// Bytes of a mapped file that lie where their element type may not be read, copied to a place where it may when
// somebody asks for them.
#pragma once

#include "base/file_map.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>

namespace attune {

/// Weights of a model are read a few times, to fold and to pack them; between these times the copy is not kept.
class LazyCopy {
 public:
  /// `owner` keeps the source alive; `file` is the mapping it lies in, if any.
  LazyCopy(std::span<const std::byte> source, std::shared_ptr<const void> owner, const FileMap* file)
      : source_(source), owner_(std::move(owner)), file_(file) {}

  /// The copy, made now when there is none. Safe to call from several threads.
  std::shared_ptr<const std::byte> get();
  /// Forgets the copy; whoever holds it keeps it.
  void release();

 private:
  std::span<const std::byte> source_;
  std::shared_ptr<const void> owner_;
  const FileMap* file_;
  std::mutex mutex_;
  std::shared_ptr<const std::byte> copy_;  // shared with those who use it for longer
};

}  // namespace attune
