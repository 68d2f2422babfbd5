// Vernier: matrix products of stated accuracy out of low-precision matrix engines.
//
//     #include <vernier/vernier.hpp>
//     vernier::Report r = vernier::gemm(vernier::Op::none, vernier::Op::none, m, n, k,
//                                       1.0, A, lda, B, ldb, 0.0, C, ldc);
//     std::puts(r.text().c_str());
//
// All matrices are column-major; element (i, j) of an array X with leading dimension ldx is X[i + j * ldx].
// u32 = 2^-24 and u64 = 2^-53 are the unit roundoffs of float and double; |A||B| is the product of absolute values.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "vernier/rounding.hpp"

#if defined(__GNUC__)
#define VERNIER_API __attribute__((visibility("default")))
#else
#define VERNIER_API
#endif

namespace vernier {

// ---- errors --------------------------------------------------------------------------------------------------------

enum class Status {
  ok = 0,
  invalid_argument,  // an argument or an option is wrong; the message names it, its value and what was expected
  out_of_memory,     // the workspace could not be had
  unsupported,       // the engine or the contract is not available on this machine
  bound_not_met,     // the data ask for more than the scheme can hold and Fallback::none was given
  device_error,      // a CUDA call failed; the message names it
  internal_error,
};

VERNIER_API const char* to_string(Status status);

// Every routine throws this, before it has written anything to its outputs; and std::bad_alloc, see gemm.
class VERNIER_API Error : public std::runtime_error {
 public:
  Error(Status status, const std::string& what) : std::runtime_error(what), status_(status) {}
  Status status() const { return status_; }

 private:
  Status status_;
};

// ---- what the caller asks ------------------------------------------------------------------------------------------

enum class Op : char { none = 'N', transpose = 'T', conjugate_transpose = 'C' };  // for real types C means T

// What a Contract does when the data's exponents are too wide for the scheme.
enum class Fallback {
  native,  // the product of the BLAS underneath (a conventional product of the type of C)
  none,    // Error(Status::bound_not_met)
};

// The accuracy of a product, as a promise about every entry of T = op(A) op(B) before alpha and beta are applied.
//
//   fp64      |T - AB| <= (k + 1) u64 |A||B|                      componentwise (Grade A of Demmel et al.)
//   fp32      |T - AB| <= (k + 1) u32 |A||B|                      the same with u32
//   bits(n)   |T - AB| <= (k 2^-n + u) |A||B|                     u of the output type: the final rounding
//   normwise  |T_ij - (AB)_ij| <= (k + 1) u64 |A_i|_2 |B_j|_2    rows of A, columns of B; the faster form; of n bits
//             (k 2^-n + u) for (k + 1) u64
//   exact     C = alpha AB + beta C: the exact real number, rounded once to the type of C, in the contract's direction
//
// A float output adds u32 |T|. Then C = RN(alpha T + RN(beta C)). Residues give one definite set of bits, whatever
// engine, threads, workspace or blocking; speculative and native products, bf16 parts and GPUs without `reproducible`
// have bits of their own. docs/calls.md has complex matrices, subnormal numbers, overflow and the bound of each case.
struct VERNIER_API Contract {
  enum class Kind { fp32, fp64, normwise, bits, exact };

  Kind kind = Kind::fp64;
  int bits_asked = 53;                    // bits(n): n; fp64: 53; fp32: 24; exact: 0; normwise: 53, but may be 4 to 110
  bool reproducible = false;              // always the integer scheme, also where the native product would be faster
  Fallback fallback = Fallback::native;   // reproducible contracts never take the native product: they throw instead
  Rounding rounding = Rounding::nearest;  // of exact; an exact zero is +0 in every direction

  static Contract fp32();
  static Contract fp64();
  static Contract normwise();   // of fp64
  static Contract bits(int n);  // 4 <= n <= 110
  static Contract exact(Rounding rounding = Rounding::nearest);

  // "fp32", "fp64", "fp64-normwise", "bits(60)", "normwise(60)", "exact", each optionally followed by "+reproducible"
  // and "+no-fallback"; "exact" by "+down", "+up" or "+toward-zero" too.
  static Contract parse(std::string_view text);
  std::string text() const;  // what parse() reads

  bool operator==(const Contract&) const = default;
};

// Where products of matrices in memory of the host are made (offload.hpp).
enum class Device {
  cpu,
  cuda,       // all GPUs of the host, but for products too small to be planned
  automatic,  // "auto": GPUs where they are faster by estimate
};

struct VERNIER_API Options {
  Contract contract = {};  // fp64, for float data too: then default_contract<float>() is usual
  // "" chooses, and VERNIER_ENGINE overrides it; else a name of engines(), of part_engines() for float under contract
  // fp32, "native", or "model:NAME" for an engine of vernier/model.hpp: the same bits, slowly.
  std::string engine = {};
  int threads = 0;  // 0: OpenMP's choice (OMP_NUM_THREADS); at most 4 a processor are used
  // Bytes; 0: default_workspace_limit, or on a CPU, where the system grants it, twice the memory of A, B and C, up to
  // four times that and to a quarter of the machine's, or as much of it as `threads` are of the processors. Larger
  // products go block by block over m and n. Copies that complex products make, and the memory of level 3, come on top.
  std::size_t workspace_limit = 0;
  void* workspace = nullptr;        // caller's own workspace; what gemm allocates then is small
  std::size_t workspace_bytes = 0;  // its size; gemm_workspace() tells what is enough

  // Called by gemm, also with prepared operands, and by no other routine, from the calling thread, with rising
  // fractions of the work and 1 last. It should be quick, must not throw, and must not touch A, B and C
  // (docs/calls.md).
  std::function<void(double)> progress = {};

  // Of gemm and all that is made of it; none: as DeviceScope or VERNIER_DEVICE says, or on the CPU. Products that name
  // an engine of the CPU or bring a workspace stay there.
  std::optional<Device> device = {};
};

inline constexpr std::size_t default_workspace_limit = std::size_t{1} << 30;

template <class T>
Contract default_contract();  // fp32 for float and std::complex<float>, fp64 for double and std::complex<double>

// ---- what was done -------------------------------------------------------------------------------------------------

// What is decided about one product before its data are read; a Report adds what the data decided (docs/decisions.md).
struct VERNIER_API Plan {
  std::string routine = "gemm";
  std::string type;  // "float", "double", "complex float" or "complex double"
  std::int64_t m = 0, n = 0, k = 0;
  Contract contract;
  // "residues"; "bf16x6": bf16 parts on a CPU, summed in an order of its own (text() names it; a GPU's schemes of three
  // bf16 parts have others); "split" (split.hpp; on GPUs); "native"; or "none" (nothing to do)
  std::string scheme;
  std::string engine;  // of engines() or part_engines(), or the name of the BLAS for "native"
  std::string reason;  // why this scheme
  int threads = 1;
  int moduli = 0;                   // pairwise coprime moduli = int8 products, of the ordinary entries
  double log2_modulus_product = 0;  // log2 P; the integer product stays below P / 2 (of a speculative product: below P)
  double log2_bound = 0;            // log2 of the proven c in |T - AB| <= c |A||B| (normwise: c |A_i| |B_j|)
  std::int64_t k_block = 0, m_block = 0, n_block = 0;  // one pass holds m_block x n_block of C, k_block at a time
  std::size_t workspace = 0;                           // bytes

  std::string text() const;  // a few lines for a person
  std::string json() const;  // one JSON object
};

struct VERNIER_API Report {
  Plan plan;
  // what the data added to the plan
  std::int64_t wide_rows = 0,
               wide_columns = 0;  // rows of op(A), columns of op(B) that got bits, and so moduli, of their own
  int wide_moduli = 0;            // moduli of the entries in those rows and columns
  int span_a = 0, span_b = 0;     // widest exponent span (max - min over nonzeros) of a row of op(A), a column of op(B)
  std::int64_t nonfinite_rows = 0, nonfinite_columns = 0;  // rows, columns that hold a NaN or an infinity
  // contract exact: entries that the residues leave open, and those of them that only the sum of all products decided;
  // undecided of a speculative product: entries of the blocks that took one modulus more
  std::int64_t undecided = 0, accumulated = 0;
  // Scales and moduli come from a product of |A| and |B| in low precision: statistics of rows and columns alone would
  // ask for more (docs/accuracy.md, theorem 12).
  bool bounded = false;
  bool fallback = false;  // native product taken (for all of C): data too wide for the scheme, or for it to win
  // The least of k that the native product of a part of C took, where all else adds less than half a unit of |A||B|
  // (asynchronous: of a try, after which the device may have taken all); 0: all of k.
  std::int64_t native_k = 0;
  // seconds, wall clock; those of residues are of all conversions, of bf16 parts too
  double seconds = 0, seconds_statistics = 0, seconds_residues = 0, seconds_products = 0, seconds_recombine = 0;
  double seconds_bound = 0, seconds_undecided = 0;

  std::string text() const;
  std::string json() const;
};

// ---- products ------------------------------------------------------------------------------------------------------

// alpha and beta: T follows from the matrices, and whatever converts to T will do, as 1.0 for float and complex ones.
template <class T>
using Scalar = std::type_identity_t<T>;

// C = alpha op(A) op(B) + beta C
//
//   op(A)  m x k; A is lda x k with lda >= max(1, m) for Op::none, lda x m with lda >= max(1, k) otherwise
//   op(B)  k x n; B is ldb x n with ldb >= max(1, k) for Op::none, ldb x k with ldb >= max(1, n) otherwise
//   C      m x n, ldc >= max(1, m)
//
// T is float, double or std::complex of these. alpha = 0 or k = 0: A and B are not read, C = beta C. beta = 0: C is not
// read. m = 0 or n = 0: nothing happens. NaN and infinities go where a conventional product sends them. C must not
// overlap A or B. Safe to call from several threads at once.
//
// By residues (Ozaki scheme II): rows of A and columns of B are scaled by powers of two, rounded to integers,
// multiplied modulo pairwise coprime p <= 256 in int8, and recovered by the Chinese remainder theorem.
//
// Throws Error with C untouched: invalid_argument (in the order of the reference BLAS), out_of_memory, unsupported,
// bound_not_met; std::bad_alloc where its report finds no memory. OpenBLAS retries for ever without 128 MiB to map.
template <class T>
VERNIER_API Report gemm(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k, Scalar<T> alpha, const T* A,
                        std::int64_t lda, const T* B, std::int64_t ldb, Scalar<T> beta, T* C, std::int64_t ldc,
                        const Options& options = Options{.contract = default_contract<T>()});

// The plan that gemm would follow for data of ordinary exponents; reads no matrix. Throws like gemm.
template <class T>
VERNIER_API Plan explain(Op opa, Op opb, std::int64_t m, std::int64_t n, std::int64_t k,
                         const Options& options = Options{.contract = default_contract<T>()});

// Bytes of workspace with which gemm runs at full speed; least: with which it runs at all. What it allocates beside it,
// the words of its report and what contract exact samples, does not grow with m, n and k.
template <class T>
VERNIER_API std::size_t gemm_workspace(std::int64_t m, std::int64_t n, std::int64_t k, const Options& options,
                                       bool least = false);

// gemm keeps its workspaces for the next call; this gives them back to the system.
VERNIER_API void release_workspace();

// ---- engines and version -------------------------------------------------------------------------------------------

struct VERNIER_API EngineInfo {
  std::string name;  // "amx", "avx512_vnni", "avx2", "portable"; "amx_bf16"
  std::string description;
  bool supported = false;  // by this machine
  std::string missing;     // what the machine lacks, if not
};

VERNIER_API std::vector<EngineInfo> engines();  // for int8, in order of preference
VERNIER_API std::vector<EngineInfo>
part_engines();                            // for bf16 parts: float under contract fp32, where estimated to win
VERNIER_API std::string default_engine();  // of engines(), what "" means now, VERNIER_ENGINE included; or it throws
VERNIER_API std::string native_blas();     // name and configuration of the BLAS underneath

// Times products of some sizes by each method that may win here, on 1, 2, 4, ... threads up to `threads` (0: OpenMP's
// choice), a second or two in all, and keeps the times in a file: the estimates of this and later processes start from
// them in place of tabled rates, so that the choice between methods holds on this machine. The file is
// $VERNIER_RATES, else vernier/rates.json in $XDG_CACHE_HOME or ~/.cache; VERNIER_RATES=none keeps to the table.
// Returns the file's name. Throws Error(Status::invalid_argument) where it cannot be written.
VERNIER_API std::string measure_rates(int threads = 0);
VERNIER_API std::string rates();  // where estimates come from: "tabled rates", "rates measured here on 2026-11-26"

VERNIER_API bool cuda_compiled();  // was the CUDA part built?
VERNIER_API const char* version();

template <>
inline Contract default_contract<float>() {
  return Contract::fp32();
}
template <>
inline Contract default_contract<double>() {
  return Contract::fp64();
}
template <>
inline Contract default_contract<std::complex<float>>() {
  return Contract::fp32();
}
template <>
inline Contract default_contract<std::complex<double>>() {
  return Contract::fp64();
}

}  // namespace vernier
