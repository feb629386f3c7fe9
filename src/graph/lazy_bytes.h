// Contents of a constant that exist only while somebody needs them: copied or computed when first asked for, forgotten
// between uses, made again when asked for again.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>

namespace attune {

/// Weights of a model are read a few times, to fold and to pack them; between these times they are not kept.
class LazyBytes {
 public:
  /// Writes all of the contents, the same each time; keeps alive what it reads.
  using Fill = std::function<void(std::byte*)>;

  LazyBytes(size_t size, Fill fill) : size_(size), fill_(std::move(fill)) {}

  /// The contents, made now when there are none. Safe to call from several threads.
  std::shared_ptr<const std::byte> get();
  /// Forgets the contents; whoever holds them keeps them.
  void release();

 private:
  size_t size_;
  Fill fill_;
  std::mutex mutex_;
  std::shared_ptr<const std::byte> contents_;  // shared with those who use them for longer
};

}  // namespace attune
