// Engines that multiply int8 planes exactly and leave the product modulo p.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/panel.hpp"
#include "number/moduli.hpp"

namespace vernier {

// The longest k of one product on any engine: the reduction's fp32 quotient is then off by one at most.
inline constexpr std::int64_t max_product_k = 32768;

// An engine's instruction as the table of engines (vernier/model.hpp) has it, and the bytes that it is given.
struct Int8Instruction {
  const char* model = "";                                                       // its row
  int largest_row = largest_modulus / 2, largest_column = largest_modulus / 2;  // in magnitude; -128 is a residue
};

// The longest k, in whole steps of 64, of which the instruction loses nothing: the model's exactness predicate.
std::int64_t longest_exact_k(const Int8Instruction& instruction);

// One modulus, one block of row strips (of A) against consecutive column strips (of B):
//     out(i, j) = sum_l rows(i, l) columns(l, j)  mod p      (symmetric), plus the old out(i, j) if accumulate
// Operands lie as engine/panel.hpp says; steps beyond k hold zeros. Any bytes are allowed that are residues modulo p.
struct Int8Product {
  const std::int8_t* columns = nullptr;  // [column strip][step][2048 bytes], 64-byte aligned
  std::int64_t column_strips = 0;        // at least 1
  const std::int8_t* rows = nullptr;     // [row strip][step][2048 bytes], likewise
  std::int64_t row_strips = 0;           // at least 1
  std::int64_t steps = 0;                // of 64 k; at least 1, steps * 64 <= longest_k() of the engine
  // Of each strip, counted from first_step before the operands; null: all are filled.
  const FilledSteps *filled_columns = nullptr, *filled_rows = nullptr;
  std::int64_t first_step = 0;
  int modulus = 0;
  bool accumulate = false;
  std::int8_t* out = nullptr;  // block (column strip t, row strip v) at out + (t * out_strips + v) * 1024
  std::int64_t out_strips = 0;
  void* scratch = nullptr;  // scratch_bytes(), 64-byte aligned, one per thread

  // What a block reads of the operands' steps; nothing, if begin is end.
  FilledSteps steps_of(std::int64_t t, std::int64_t v) const {
    FilledSteps all{first_step, first_step + steps};
    if (filled_columns != nullptr) all = all.within(filled_columns[t]);
    if (filled_rows != nullptr) all = all.within(filled_rows[v]);
    return {all.begin - first_step, all.end - first_step};
  }
};

class Int8Engine {
 public:
  virtual ~Int8Engine() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view description() const = 0;
  virtual std::string missing() const = 0;  // what this machine lacks; empty if the engine runs here
  virtual Int8Instruction instruction() const = 0;
  virtual std::size_t scratch_bytes() const = 0;
  virtual void enter_thread() const {}  // before and after a thread's products
  virtual void leave_thread() const {}
  virtual void multiply(const Int8Product& product) const = 0;

  std::int64_t longest_k() const { return std::min(max_product_k, longest_exact_k(instruction())); }
};

const std::vector<const Int8Engine*>& int8_engines();  // all that were built, in order of preference

// The engine "model:ROW" of a row of the table; throws Error where the row cannot hold residues or is unknown.
const Int8Engine& modelled_int8_engine(std::string_view row_name);

// The engine of that name, modelled ones included; "" asks VERNIER_ENGINE and then takes the first that runs here.
// "native" in VERNIER_ENGINE is for the caller to handle (see requested_engine). Throws Error on an unknown or
// unsupported name.
const Int8Engine& find_int8_engine(std::string_view name);

// The first that runs here, whatever the environment says.
const Int8Engine& preferred_int8_engine();

// What VERNIER_ENGINE may name as well: the tiles of bf16x6, beside which the int8 engine is the preferred one.
inline constexpr std::string_view bf16_tile_engine = "amx_bf16";

const char* engine_in_environment();  // VERNIER_ENGINE, or null

// name, or VERNIER_ENGINE if name is empty, or "".
std::string requested_engine(std::string_view name);

// The product of each engine. Sources compiled for an instruction set define these functions and nothing else that
// another source could see: what they share as inline code has internal linkage, so that no such copy ends up in
// portable code.
void multiply_portable(const Int8Product& product);
#if VERNIER_X86
void multiply_avx2(const Int8Product& product);
void multiply_avx512_vnni(const Int8Product& product);
void multiply_amx(const Int8Product& product);
void configure_amx_tiles();  // of the calling thread
void release_amx_tiles();
#endif

// Four columns of the whole k as 16-bit values.
inline constexpr std::size_t avx2_scratch_bytes = 4 * sizeof(std::int16_t) * max_product_k;

// int32 sums of a block.
inline constexpr std::size_t amx_scratch_bytes = block_elements * sizeof(std::int32_t);

}  // namespace vernier
