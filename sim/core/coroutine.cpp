#include "core/coroutine.hpp"

#include <algorithm>
#include <new>

namespace contend {

/// Bytes that have never been used, from the current slab or a new one.
std::byte* FramePool::carve(std::size_t bytes) {
  if (left_ < bytes) {
    slabs_.push_back(std::make_unique_for_overwrite<std::byte[]>(next_slab_)); // NOLINT(modernize-avoid-c-arrays)
    cursor_ = slabs_.back().get();
    left_ = next_slab_;
    reserved_ += next_slab_;
    next_slab_ = std::min(next_slab_ * 2, last_slab);
  }
  left_ -= bytes;
  return std::exchange(cursor_, cursor_ + bytes);
}

void* FramePool::allocate(std::size_t bytes) {
  const std::size_t whole = bytes + sizeof(Header);
  const std::size_t size_class = (whole - 1) / granule;
  std::byte* memory = nullptr;
  if (size_class >= classes) {
    memory = static_cast<std::byte*>(::operator new(whole));
    new (memory) Header{this, classes};
  } else {
    Free*& list = free_[size_class];
    if (list != nullptr) {
      memory = reinterpret_cast<std::byte*>(std::exchange(list, list->next));
    } else {
      memory = carve((size_class + 1) * granule);
    }
    new (memory) Header{this, size_class};
  }
  ++live_;
  return memory + sizeof(Header);
}

void FramePool::release(void* frame) noexcept {
  std::byte* const memory = static_cast<std::byte*>(frame) - sizeof(Header);
  const Header header = *reinterpret_cast<Header*>(memory);
  --header.pool->live_;
  if (header.size_class == classes) {
    ::operator delete(memory);
    return;
  }
  Free*& list = header.pool->free_[header.size_class];
  list = new (memory) Free{list};
}

} // namespace contend
