// The number of threads of the BLAS underneath.
#pragma once

namespace vernier {

// Holds it at `threads` for the life of the object; 0 leaves it alone. OpenBLAS has one setting for the process: the
// first object changes it, the last one restores it, and meanwhile it holds for all. Other BLAS keep their own.
class NativeThreads {
 public:
  explicit NativeThreads(int threads);
  ~NativeThreads();
  NativeThreads(const NativeThreads&) = delete;
  NativeThreads& operator=(const NativeThreads&) = delete;

 private:
  bool active_;
};

}  // namespace vernier
