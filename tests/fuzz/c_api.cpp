// Calls of the C interface with any arguments: a status that the header names, words where it is none of success, and
// an output that is written only with success.
#include <cmath>
#include <cstring>

#include "fuzz/target.hpp"
#include "vernier/vernier.h"

namespace vernier::fuzz {
namespace {

constexpr int largest = 12;  // dimension of a product that is made

// Dimensions and strides that no matrix has.
constexpr std::int64_t impossible[] = {-1, INT64_MIN, INT64_MAX, std::int64_t{1} << 62, (std::int64_t{1} << 47) + 1};

struct Handle {
  vernier_handle handle = nullptr;
  Handle() { promise(vernier_create(&handle) == VERNIER_SUCCESS, "a handle is made"); }
  ~Handle() { vernier_destroy(handle); }
};

std::int64_t dimension(Choices& c) {
  const unsigned byte = c.byte();
  return byte < 8 ? impossible[byte % 5] : byte % (largest + 1);
}

// Letters that an enumeration's type can hold.
template <class E>
E letter(Choices& c, std::string_view valid) {
  const unsigned byte = c.byte();
  return static_cast<E>(byte < 8 ? c.byte() & 0x7f : static_cast<unsigned char>(valid[byte % valid.size()]));
}

double number(Choices& c) {
  constexpr double special[] = {0.0, -0.0, 1e308, -1e-308, 5e-324, INFINITY, -INFINITY, NAN, 1e38, 1e-30};
  const unsigned byte = c.byte();
  return byte < 16 ? special[byte % 10] : (static_cast<int>(byte) - 128) / 8.0;
}

// Exactly the elements that a matrix of these sizes has; one where the sizes are impossible.
class Matrix {
 public:
  Matrix(Choices& c, vernier_type type, std::int64_t rows, std::int64_t columns) {
    const std::int64_t least = std::max<std::int64_t>(1, rows);
    const unsigned byte = c.byte();
    ld = byte < 6 ? impossible[byte % 5] : byte < 10 ? least - 1 : least > largest ? least : least + byte % 3;
    const bool small =
        rows >= 0 && columns >= 0 && rows <= largest && columns <= largest && ld > 0 && ld <= 2 * largest;
    const std::int64_t held = small && rows > 0 && columns > 0 ? (columns - 1) * ld + rows : 1;
    const bool single = type == VERNIER_S || type == VERNIER_C;
    const std::size_t parts = static_cast<std::size_t>(held) * (type == VERNIER_S || type == VERNIER_D ? 1 : 2);
    is_null = c.below(64) == 1;
    bytes.resize(parts * (single ? sizeof(float) : sizeof(double)));
    for (std::size_t i = 0; i < parts; ++i) {
      const double x = number(c);
      const float as_float = static_cast<float>(x);
      if (single)
        std::memcpy(bytes.data() + i * sizeof(float), &as_float, sizeof(float));
      else
        std::memcpy(bytes.data() + i * sizeof(double), &x, sizeof(double));
    }
  }
  void* data() { return is_null ? nullptr : bytes.data(); }

  std::int64_t ld;
  bool is_null;
  std::vector<unsigned char> bytes;
};

void change_settings(Choices& c, vernier_handle h) {
  constexpr const char* contracts[] = {nullptr,
                                       "fp64",
                                       "fp32",
                                       "fp64-normwise",
                                       "exact",
                                       "bits(60)",
                                       "bits(4)",
                                       "bits(110)",
                                       "fp64+reproducible",
                                       "fp32+reproducible",
                                       "exact+no-fallback",
                                       "fp64+no-fallback",
                                       "fp64-normwise+reproducible"};
  constexpr const char* engines[] = {nullptr, "", "native", "portable", "avx2", "amx_bf16"};
  switch (c.below(8)) {
    case 0:
      vernier_set_contract(h, std::string(c.text(c.below(24))).c_str());
      break;
    case 1:
      vernier_set_next_contract(h, c.one_of(contracts));
      break;
    case 2:
      vernier_set_engine(h, c.below(2) == 0 ? c.one_of(engines) : std::string(c.text(c.below(12))).c_str());
      break;
    case 3:
      vernier_set_threads(h, c.below(5) == 4 ? INT32_MAX : static_cast<int>(c.below(4)) - 1);
      break;
    case 4:
      vernier_set_workspace_limit(h, c.below(2) == 0 ? 0 : std::size_t{1} << c.below(64));
      break;
    case 5:
      vernier_set_device(h, c.below(2) == 0 ? "cpu" : std::string(c.text(c.below(8))).c_str());
      break;
    default:
      vernier_set_contract(h, c.one_of(contracts));
  }
}

void judge(vernier_handle h, vernier_status status) {
  promise(std::strcmp(vernier_status_name(status), "unknown status") != 0, "a status is one of the header's");
  promise(status != VERNIER_INTERNAL_ERROR && status != VERNIER_DEVICE_ERROR, "no error is an unexpected one");
  promise(status == VERNIER_SUCCESS || *vernier_last_error(h) != '\0', "an error has words");
}

void ask(Choices& c, vernier_handle h) {
  const auto type = letter<vernier_type>(c, "SDCZ");
  const std::int64_t m = dimension(c), n = dimension(c), k = dimension(c);
  vernier_report report;
  std::size_t bytes = 0;
  judge(h, vernier_explain(h, type, m, n, k, &report));
  judge(h, vernier_gemm_workspace(h, type, m, n, k, &bytes));
  vernier_get_report(h, &report);
  promise(vernier_report_text(h) != nullptr && vernier_report_json(h) != nullptr, "a report has words");
}

using Sides = vernier_side;

// Sizes as each routine means them, before the letters are looked at.
struct Call {
  Call(Choices& c)
      : type(letter<vernier_type>(c, "SDCZ")),
        opa(letter<vernier_op>(c, "NTC")),
        opb(letter<vernier_op>(c, "NTC")),
        side(letter<Sides>(c, "LR")),
        uplo(letter<vernier_uplo>(c, "LU")),
        diag(letter<vernier_diag>(c, "NU")),
        m(dimension(c)),
        n(dimension(c)),
        k(dimension(c)) {
    for (double& x : factors_double) x = number(c);
    for (int i = 0; i < 4; ++i) factors_float[i] = static_cast<float>(factors_double[i]);
  }
  const void* factor(int i) const {
    const bool single = type == VERNIER_S || type == VERNIER_C;
    return single ? static_cast<const void*>(factors_float + 2 * i) : factors_double + 2 * i;
  }

  vernier_type type;
  vernier_op opa, opb;
  Sides side;
  vernier_uplo uplo;
  vernier_diag diag;
  std::int64_t m, n, k;
  double factors_double[4];
  float factors_float[4];
};

vernier_status prepared_product(vernier_handle h, const Call& x, Matrix& a, Matrix& b, Matrix& c) {
  vernier_prepared prepared = nullptr;
  vernier_status status =
      vernier_prepare(h, x.type, x.side, x.opa, x.side == VERNIER_LEFT ? x.m : x.k, x.side == VERNIER_LEFT ? x.k : x.n,
                      x.side == VERNIER_LEFT ? a.data() : b.data(), x.side == VERNIER_LEFT ? a.ld : b.ld, &prepared);
  if (status == VERNIER_SUCCESS)
    status = x.side == VERNIER_LEFT ? vernier_gemm_prepared_left(h, prepared, x.opb, x.m, x.n, x.k, x.factor(0),
                                                                 b.data(), b.ld, x.factor(1), c.data(), c.ld)
                                    : vernier_gemm_prepared_right(h, x.opb, prepared, x.m, x.n, x.k, x.factor(0),
                                                                  a.data(), a.ld, x.factor(1), c.data(), c.ld);
  vernier_destroy_prepared(prepared);
  return status;
}

Matrix operand(Choices& c, const Call& x, vernier_op op, std::int64_t rows, std::int64_t columns) {
  return op == VERNIER_OP_N ? Matrix(c, x.type, rows, columns) : Matrix(c, x.type, columns, rows);
}

struct Operands {
  Matrix a, b, c;
};

Operands operands(Choices& c, const Call& x, unsigned routine) {
  const std::int64_t of_side = x.side == VERNIER_LEFT ? x.m : x.n;
  if (routine == 0)
    return {operand(c, x, x.opa, x.m, x.k), operand(c, x, x.opb, x.k, x.n), Matrix(c, x.type, x.m, x.n)};
  if (routine == 1)  // op of what is prepared, op of the other
    return {operand(c, x, x.side == VERNIER_LEFT ? x.opa : x.opb, x.m, x.k),
            operand(c, x, x.side == VERNIER_LEFT ? x.opb : x.opa, x.k, x.n), Matrix(c, x.type, x.m, x.n)};
  if (routine == 4)
    return {operand(c, x, x.opa, x.n, x.k), operand(c, x, x.opb, x.k, x.n), Matrix(c, x.type, x.n, x.n)};
  if (routine >= 5 && routine <= 8)
    return {operand(c, x, x.opa, x.n, x.k), operand(c, x, x.opa, x.n, x.k), Matrix(c, x.type, x.n, x.n)};
  return {Matrix(c, x.type, of_side, of_side), Matrix(c, x.type, x.m, x.n), Matrix(c, x.type, x.m, x.n)};
}

vernier_status multiply(vernier_handle h, const Call& x, unsigned routine, Operands& o) {
  const auto run = [&](auto f, auto... first) {
    return f(h, x.type, first..., x.factor(0), o.a.data(), o.a.ld, o.b.data(), o.b.ld, x.factor(1), o.c.data(), o.c.ld);
  };
  const auto one = [&](auto f) {
    return f(h, x.type, x.uplo, x.opa, x.n, x.k, x.factor(0), o.a.data(), o.a.ld, x.factor(1), o.c.data(), o.c.ld);
  };
  const auto triangle = [&](auto f) {
    return f(h, x.type, x.side, x.uplo, x.opa, x.diag, x.m, x.n, x.factor(0), o.a.data(), o.a.ld, o.c.data(), o.c.ld);
  };
  switch (routine) {
    case 0:
      return run(vernier_gemm, x.opa, x.opb, x.m, x.n, x.k);
    case 1:
      return prepared_product(h, x, o.a, o.b, o.c);
    case 2:
      return run(vernier_symm, x.side, x.uplo, x.m, x.n);
    case 3:
      return run(vernier_hemm, x.side, x.uplo, x.m, x.n);
    case 4:
      return run(vernier_gemmt, x.uplo, x.opa, x.opb, x.n, x.k);
    case 5:
      return one(vernier_syrk);
    case 6:
      return one(vernier_herk);
    case 7:
      return run(vernier_syr2k, x.uplo, x.opa, x.n, x.k);
    case 8:
      return run(vernier_her2k, x.uplo, x.opa, x.n, x.k);
    case 9:
      return triangle(vernier_trmm);
    default:
      return triangle(vernier_trsm);
  }
}

void call(Choices& choices, vernier_handle h) {
  const unsigned routine = choices.below(11);
  const Call x(choices);
  Operands o = operands(choices, x, routine);
  const std::vector<unsigned char> a = o.a.bytes, b = o.b.bytes, c = o.c.bytes;
  const vernier_status status = multiply(h, x, routine, o);
  judge(h, status);
  promise(o.a.bytes == a && o.b.bytes == b, "operands are not written");
  promise(status == VERNIER_SUCCESS || o.c.bytes == c, "an output is written with success alone");
}

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (int routine = 0; routine < 11; ++routine)
    for (const char type : {0, 1, 2, 3}) {
      std::string seed{static_cast<char>(1), static_cast<char>(routine), static_cast<char>(40 + type)};
      for (int i = 0; i < 400; ++i) seed += static_cast<char>(16 + (i * 29 + routine) % 96);
      all.push_back(seed);
    }
  return all;
}

void try_input(std::string_view bytes) {
  Choices choices(bytes);
  const Handle handle;
  for (int calls = 0; calls < 6 && !choices.empty(); ++calls) switch (choices.below(4)) {
      case 0:
        change_settings(choices, handle.handle);
        break;
      case 2:
        ask(choices, handle.handle);
        break;
      default:
        call(choices, handle.handle);
    }
}

}  // namespace vernier::fuzz
