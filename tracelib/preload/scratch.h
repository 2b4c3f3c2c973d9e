// Working memory of one call: on the stack for short lists, otherwise pages that the thread keeps.
#pragma once

#include "pool.h"

#include "../types.h"

namespace stopline::preload {

/// `count` elements of T, zero-initialised memory not guaranteed; null data() when there is no memory for
/// them.
template <typename T, std::size_t kOnStack, int kSlot>
class Scratch {
  public:
    explicit Scratch(std::size_t count) {
        if (count <= kOnStack) {
            m_data = reinterpret_cast<T*>(m_stack);
            return;
        }
        Kept& kept = keptOfThread();
        if (kept.capacity < count) {
            // Leaves the old pages to the thread's end: rare, and at most as much again.
            const std::size_t capacity = count * 2;
            kept.data = static_cast<T*>(takePages(capacity * sizeof(T)));
            kept.capacity = kept.data == nullptr ? 0 : capacity;
        }
        m_data = kept.data;
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    [[nodiscard]] T* data() { return m_data; }
    T& operator[](std::size_t i) { return m_data[i]; }

  private:
    struct Kept {
        T* data;
        std::size_t capacity;
    };
    static Kept& keptOfThread() {
        static thread_local Kept kept __attribute__((tls_model("initial-exec")));
        return kept;
    }
    T* m_data;
    alignas(T) std::byte m_stack[kOnStack * sizeof(T)];
};

} // namespace stopline::preload
