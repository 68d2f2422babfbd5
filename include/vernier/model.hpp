// What matrix engines compute, bit for bit: descriptions of engines, a model that executes them, and probes that find a
// description out of an engine's results.
//
//     const auto& hopper = vernier::model::find_engine("hopper-wgmma-fp16-fp32");
//     std::uint64_t d = vernier::model::dot(hopper.engine, a, b, c);   // encodings in, encoding out
//
// Numbers go in and out as encodings, one per 64-bit word: fp16 in the low 16 bits, tf32 as the fp32 word that the
// hardware reads, int8 as its low 8 bits, int32 as its low 32 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#if defined(__GNUC__)
#define VERNIER_MODEL_API __attribute__((visibility("default")))
#else
#define VERNIER_MODEL_API
#endif

namespace vernier::model {

// ---- descriptions --------------------------------------------------------------------------------------------------

enum class Format : std::uint8_t { fp16, bf16, tf32, e4m3, e5m2, e3m2, e2m3, e2m1, fp32, fp64, int8, uint8, int32 };
enum class Rounding : std::uint8_t { nearest_even, toward_zero, down, up, nearest_away };

enum class Sum : std::uint8_t {
  block,    // products and c aligned to the largest exponent, added exactly, rounded once
  chain,    // one addition after another, each rounded
  integer,  // exact, modulo or saturating
};
enum class Join : std::uint8_t {
  first,  // c is a term of the first block, or the start of the chain
  last,   // the products are summed from zero; c is added at the end
};
enum class Overflow : std::uint8_t { infinity, largest, wrap, saturate_blocks, saturate_end };
enum class ZeroSign : std::uint8_t {
  positive,  // a zero result is +0
  ieee,      // -0 if every term is -0, or if a negative sum underflows
};

inline constexpr int exact_alignment = 1000;  // fraction_bits of a block that loses nothing before its rounding

// Which NaN comes out of a chain's step s + a b. Unless it is Engine::nan, it is the first NaN of the three in the
// order named, made quiet; Engine::nan is then the NaN of inf * 0 and inf - inf.
enum class NanRule : std::uint8_t { canonical, abs, asb, bas, bsa, sab, sba };

// One instruction, for one element of the result: d = c + a . b with k products. A structural type: it may be a
// template argument. Fields that do not concern the kind of sum are ignored.
struct Engine {
  Format a = Format::fp16, b = Format::fp16;
  Format c = Format::fp32;  // of c and d
  int k = 16;               // products of one instruction
  Sum sum = Sum::block;
  int block = 16;      // L: products that are added in one go (block, integer)
  int interleave = 0;  // 0: blocks are contiguous; g: runs of g products go to the blocks in turn
  Join join = Join::first;

  int fraction_bits = 25;  // F: terms are cut at 2^(e_max - F)
  Rounding alignment = Rounding::toward_zero;
  bool normalise_products = false;   // 1.5 * 1.5 counts with exponent 1, not 0
  int zero_exponent = -133;          // an exact zero counts with this exponent in e_max
  bool zero_keeps_exponent = false;  // 0 * x counts with emin + e(x) instead
  int carry_bits = 0;                // the sum is kept modulo 2^(e_max + 1 + carry_bits); 0: wide enough

  int product_bits = 0;        // products are rounded to this many bits first (to nearest); 0: exact
  int sum_bits = 24;           // chain: significand of every partial sum, with the exponent range of c
  int lanes = 1;               // chain: product i belongs to chain i mod lanes; the chains are added at the end
  bool reverse_pairs = false;  // chain: product 1 before 0, 3 before 2, ...

  Rounding rounding = Rounding::toward_zero;        // rho: of a block's result, of a chain's partial sums
  Rounding join_rounding = Rounding::nearest_even;  // Join::last: of the last addition
  int output_fraction_bits = 23;                    // results keep this many fraction bits of c's format
  int early_fraction_bits = 0;  // a block's sum is first cut to this many fraction bits; 0: rounded once
  bool flush_inputs = false;    // subnormal a, b count as zero
  bool flush_c = false;
  bool flush_output = false;
  ZeroSign zero_sign = ZeroSign::positive;
  Overflow overflow = Overflow::infinity;
  std::uint64_t nan = 0x7fffffff;  // the NaN that comes out
  NanRule nan_rule = NanRule::canonical;

  bool operator==(const Engine&) const = default;
};

struct NamedEngine {
  std::string name, device, instruction, source;
  Engine engine;
};

VERNIER_MODEL_API const std::vector<NamedEngine>& engines();
VERNIER_MODEL_API const NamedEngine& find_engine(std::string_view name);  // throws Error, naming the nearest names
VERNIER_MODEL_API void validate(const Engine& engine);                    // throws Error on impossible parameters
VERNIER_MODEL_API std::string to_json(const NamedEngine& engine);
VERNIER_MODEL_API NamedEngine parse_engine(std::string_view json);  // validated; throws Error
VERNIER_MODEL_API NamedEngine load_engine(const std::string& path);

// Blanchard et al. (2020): products in u_mul, their sum in u_add, c joined and all rounded to u_FMA. Given in
// significand bits (11 for u16, 24 for u32); 0 means exact.
VERNIER_MODEL_API Engine block_fma(Format input, Format output, int b, int mul_bits, int add_bits, int fma_bits);

VERNIER_MODEL_API const char* to_string(Format format);
VERNIER_MODEL_API const char* to_string(Rounding rounding);
VERNIER_MODEL_API int storage_bytes(Format format);
VERNIER_MODEL_API std::uint64_t encode(Format format, double value);  // to nearest even; integers saturate
VERNIER_MODEL_API double decode(Format format, std::uint64_t word);   // exact

// ---- the model -----------------------------------------------------------------------------------------------------

// One element of one instruction: a and b hold engine.k encodings.
VERNIER_MODEL_API std::uint64_t dot(const Engine& engine, const std::uint64_t* a, const std::uint64_t* b,
                                    std::uint64_t c);

// How a whole product is cut into instructions.
struct Replay {
  std::vector<std::int64_t> k_order;  // the order in which k is walked; empty: increasing
  std::int64_t run = 0;  // products summed inside the engine, from zero, before the sum moves outside; 0: all
  int split_k = 1;       // contiguous parts of k, each summed alone, then added in order
  bool scalar = false;   // leave the vector path alone
};

// D = C + A B on the engine. Row i of A begins at A + i * lda elements and column j of B at B + j * ldb, k contiguous,
// in the storage of their formats; C and D column-major (element (i, j) at i + j * ldc), in the storage of engine.c. k
// is padded with zeros to whole instructions. Sums outside the engine are rounded to nearest even in engine.c (integers
// wrap). D may be C. OpenMP's threads share the work; their number leaves no trace in D.
VERNIER_MODEL_API void multiply(const Engine& engine, const Replay& replay, std::int64_t m, std::int64_t n,
                                std::int64_t k, const void* A, std::int64_t lda, const void* B, std::int64_t ldb,
                                const void* C, void* D, std::int64_t ldc);

// Whole tiles on the vector units: "avx512", "avx2", or "" for neither (then, or where an engine is not of the kind
// that the vector path knows, multiply uses the scalar model).
VERNIER_MODEL_API std::string vector_path(const Engine& engine);

// The largest s such that k products of integers below 2^s in magnitude (times one power of two per operand) are summed
// from zero without any loss; 0 if there is none. The largest k for a given s, and for integers of the formats that are
// at most so large in magnitude (-128 is an int8, though 128 is none). Vernier's own plans cut k by these.
VERNIER_MODEL_API int exact_bits(const Engine& engine, std::int64_t k);
VERNIER_MODEL_API std::int64_t exact_length(const Engine& engine, int bits);
VERNIER_MODEL_API std::int64_t exact_length(const Engine& engine, std::int64_t largest_a, std::int64_t largest_b);

// ---- probes --------------------------------------------------------------------------------------------------------

// Anything that computes d = c + a . b. Only formats and k are known of it.
class VERNIER_MODEL_API MatrixEngine {
 public:
  virtual ~MatrixEngine() = default;
  virtual Format a() const = 0;
  virtual Format b() const = 0;
  virtual Format c() const = 0;
  virtual int k() const = 0;
  virtual std::uint64_t dot(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t c) const = 0;
};

class VERNIER_MODEL_API ModelEngine : public MatrixEngine {
 public:
  explicit ModelEngine(const Engine& engine) : engine_(engine) { validate(engine); }
  Format a() const override { return engine_.a; }
  Format b() const override { return engine_.b; }
  Format c() const override { return engine_.c; }
  int k() const override { return engine_.k; }
  std::uint64_t dot(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t c) const override {
    return model::dot(engine_, a, b, c);
  }

 private:
  Engine engine_;
};

// One conclusion: what was asked, what was found, and the inputs that show it.
struct Finding {
  std::string topic;     // "block length", "F", ...
  std::string value;     // "16", "toward zero", "not observable"
  std::string evidence;  // "c = 2^23, a0 b0 = -2^23, a1 b1 = -0.5: d = -0.5"
};

struct VERNIER_MODEL_API ProbeReport {
  std::vector<Finding> findings;
  std::string tree;  // order of accumulation, e.g. "((c 0 1 2 3) 4 5 6 7)"
  Engine estimate;   // fields that could not be observed keep the defaults

  const std::string& value(std::string_view topic) const;  // "" if there is none
  std::string text() const;
  std::string json() const;
};

VERNIER_MODEL_API ProbeReport probe(const MatrixEngine& engine);

// The experiments of Fasi et al. (2021), sections "Support for subnormal numbers" to "Monotonicity of dot product",
// with the constants moved by the number of alignment bits found, as the paper does for Turing.
VERNIER_MODEL_API std::vector<Finding> published_suite(const MatrixEngine& engine);

}  // namespace vernier::model
