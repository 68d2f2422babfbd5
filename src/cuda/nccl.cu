#include "cuda/nccl.hpp"

#include "base/status.hpp"
#include "cuda/shared_library.hpp"

namespace vernier::cuda {
namespace {

// Of nccl.h, unchanged since 2.0.
constexpr int nccl_success = 0, nccl_int64 = 4, nccl_sum = 0;

struct Nccl {
  SharedLibrary library{"libnccl", "NCCL", {".so.2"}};
  int (*count)(const void* communicator, int* ranks) = library.find("ncclCommCount");
  int (*all_reduce)(const void* from, void* to, std::size_t count, int type, int operation, void* communicator,
                    cudaStream_t stream) = library.find("ncclAllReduce");
  const char* (*words_of)(int code) = library.find("ncclGetErrorString");
};

const Nccl& nccl() {
  static const Nccl& once = *new Nccl;
  if (!once.library.missing().empty()) fail(Status::unsupported, "{}", once.library.missing());
  return once;
}

void check_nccl(int code, const char* what) {
  if (code != nccl_success) fail(Status::device_error, "{}: {}", what, nccl().words_of(code));
}

}  // namespace

void sum_over_ranks(void* communicator, int most, std::int64_t* words, std::size_t count, cudaStream_t stream) {
  require(communicator != nullptr, "sum over ranks: the communicator is null; expected a ncclComm_t");
  int ranks = 0;
  check_nccl(nccl().count(communicator, &ranks), "ncclCommCount");
  require(ranks <= most, "sum over ranks: {} ranks; expected at most {}: sum over parts of them, one after another",
          ranks, most);
  check_nccl(nccl().all_reduce(words, words, count, nccl_int64, nccl_sum, communicator, stream), "ncclAllReduce");
}

}  // namespace vernier::cuda
