// Engines on a GPU that multiply planes of residues and leave the products modulo p. See engine/panel_cuda.hpp for the
// memory format.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/gate.hpp"
#include "engine/entry_filter.hpp"
#include "engine/filled_pieces.hpp"
#include "engine/panel_cuda.hpp"
#include "number/byte_reduction.hpp"

namespace vernier::cuda {

// For every modulus q = first .. first + moduli - 1, asynchronously on a stream:
//     out(i, j) = factor_q sum_l rows(i, l) columns(j, l)  mod p_q     (symmetric), plus the old out(i, j) if
//     accumulate
struct DeviceInt8Product {
  const std::uint8_t* rows = nullptr;     // [modulus][m][pitch]; bytes in the engine's form()
  const std::uint8_t* columns = nullptr;  // [modulus][n][pitch]
  std::int64_t m = 0, n = 0;              // at least 1
  std::int64_t pitch = 0;                 // multiple of 128, at most the engine's longest_k()
  int moduli = 0;
  int first = 0;  // the planes are those of moduli first .. first + moduli - 1
  ModuliList list = ModuliList::densest;
  int products = 1;  // of each modulus, one plane after another: operands and out are [modulus][product]
  std::array<int, max_moduli> factor{};
  bool accumulate = false;
  std::int8_t* out = nullptr;  // product_units(m, n)
  Gate gate = {};              // where it is closed, out may be left as it was or spoilt; 0 opens most often
  bool seldom = false;         // opens seldom, as one that another value opens
  EntryFilter wanted = {};     // what has no entry of these may be left as it was
  FilledPieces filled = {};    // of these planes; engines may multiply the rest all the same
  double filled_share = 1;     // of all operations, about
  std::int32_t* scratch = nullptr;
  std::uint32_t* steps = nullptr;  // a word by which long products keep pace (cuda/pace.hpp); null: they do not
  // In device memory: where it is 0, what lies above the diagonal may be left as it was.
  const int* asymmetric = nullptr;
};

class DeviceInt8Engine {
 public:
  virtual ~DeviceInt8Engine() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view description() const = 0;
  virtual std::string missing() const = 0;  // what the current device lacks; empty if the engine runs there
  virtual ByteForm form() const = 0;        // of the operands' bytes
  virtual std::int64_t longest_k() const = 0;
  virtual bool sums_in_memory() const = 0;  // then scratch has room for sums_count() of them (summed_planes.hpp)
  virtual void multiply(const DeviceInt8Product& product, cudaStream_t stream) const = 0;
};

const std::vector<const DeviceInt8Engine*>& device_int8_engines();  // in order of preference

// The engine of that name, or for "" the first that runs on the current device. Throws Error(Status::unsupported).
const DeviceInt8Engine& find_device_int8_engine(std::string_view name);

const DeviceInt8Engine& sm90_int8_engine();
const DeviceInt8Engine& cublas_int8_engine();

}  // namespace vernier::cuda
