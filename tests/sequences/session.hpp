// One random sequence of calls: handles whose settings change between calls, and what every call is held to.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sequences/block.hpp"
#include "sequences/oracle.hpp"

namespace vernier::sequences {

struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A handle and what was set on it last.
class Handle {
 public:
  Handle();
  ~Handle() { vernier_destroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator vernier_handle() const { return handle_; }

  Promise promise = {nullptr, 0};  // of the next call; its text is null where none was set
  std::string engine;
  bool limited = false;  // a limit of its workspace is set
  int digits = 53;       // of the next call's type
  int served = 0;        // calls

 private:
  vernier_handle handle_ = nullptr;
};

// What a calling thread brings along: a rounding mode, subnormal numbers flushed. It shows in no result, and stays.
class Surroundings {
 public:
  explicit Surroundings(Random& random);
  vernier_status of(const std::function<vernier_status()>& call) const;

 private:
  int rounding_;
  unsigned flushing_;
};

// Of a session; big: sizes that several blocks and threads share.
struct Environment {
  Random &random, &surroundings;
  bool gpu = false, big = false;

  std::int64_t dimension();
  std::int64_t inner(std::int64_t m, std::int64_t n);  // k
  Complex factor(Type type);                           // alpha or beta
  Type type();
  vernier_op op() { return one_of<vernier_op>(random, {VERNIER_OP_N, VERNIER_OP_T, VERNIER_OP_C}); }
  Block block(const std::vector<Matrix>& x);
  // The Promise of the call that comes; settings of the handle change.
  void settle(Handle& handle, Type type, bool level3);
};

// A scalar as the C interface takes it.
class Scalar {
 public:
  Scalar(Type type, Complex x) { type.store(x, bytes_); }
  const void* data() const { return bytes_; }

 private:
  alignas(16) std::byte bytes_[16] = {};
};

// alpha X Y + beta C, an entry: X's row i, Y's column j.
struct Judged {
  Element x, y;
  std::int64_t k;
  Complex alpha, beta;
  bool alpha_first = false;  // (alpha X) Y, or X (alpha Y)
};

// Throws Fault where status is none that a caller has to expect; true: the output was to be written.
bool succeeded(Handle& handle, vernier_status status, const std::string& call);

// Some entries of C, and all that lies around it; only those chosen are written.
void judge(Random& random, const Promise& promise, Type type, const Judged& judged, const Block& c, std::int64_t m,
           std::int64_t n, int entries, const std::string& call, std::int64_t matrix = 0,
           const std::function<bool(std::int64_t, std::int64_t)>& chosen = {});

inline void expect(bool kept, const std::string& call, const char* what) {
  if (!kept) throw Fault(call + ": " + what);
}

std::string words(Complex x);

void call_gemm(Environment& e, Handle& handle,
               const std::string& where);  // and batches, prepared operands, wrong calls
void call_level3(Environment& e, Handle& handle, const std::string& where);

}  // namespace vernier::sequences
