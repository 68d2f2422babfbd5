// Tests of gemm run once per engine of this machine and per type; every call asserts which engine ran.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "support/compare.hpp"
#include "support/generators.hpp"
#include "support/matrix.hpp"
#include "vernier/vernier.hpp"

namespace vernier::test {

enum class Type { float32, float64 };

inline std::ostream& operator<<(std::ostream& out, Type type) {
  return out << (type == Type::float32 ? "float" : "double");
}

// body(T{}) for the type's T.
template <class Body>
void with_type(Type type, Body body) {
  if (type == Type::float32)
    body(float{});
  else
    body(double{});
}

struct EngineCase {
  std::string engine;
  Type type;
};

inline std::string text(const EngineCase& c) { return c.engine + (c.type == Type::float32 ? "_float" : "_double"); }
inline std::ostream& operator<<(std::ostream& out, const EngineCase& c) { return out << text(c); }

inline std::vector<std::string> supported_engines() {
  std::vector<std::string> names;
  for (const EngineInfo& engine : engines())
    if (engine.supported) names.push_back(engine.name);
  return names;
}

inline std::vector<EngineCase> engine_cases() {
  std::vector<EngineCase> cases;
  for (const std::string& engine : supported_engines())
    for (const Type type : {Type::float32, Type::float64}) cases.push_back({engine, type});
  return cases;
}

// For INSTANTIATE_TEST_SUITE_P: the parameter's own text, letters, digits and underscores.
struct ReadableName {
  template <class Info>
  std::string operator()(const Info& info) const {
    std::string name = testing::PrintToString(info.param);
    for (char& c : name)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    return name;
  }
};

class PerEngine : public testing::TestWithParam<EngineCase> {
 protected:
  // Reproducible and of this engine.
  template <class T>
  Options options(Contract contract = default_contract<T>()) const {
    Options made;
    made.contract = contract;
    made.contract.reproducible = true;
    made.engine = GetParam().engine;
    return made;
  }

  template <class Body>
  void with_type(Body body) const {
    test::with_type(GetParam().type, body);
  }
};

inline constexpr Op all_ops[] = {Op::none, Op::transpose, Op::conjugate_transpose};

inline std::string text(Op op) { return std::string(1, static_cast<char>(op)); }

// One call: the operands as op(A) and op(B), and how they are to lie in memory.
template <class T>
struct Call {
  Matrix<T> a, b;  // op(A), op(B)
  Op opa = Op::none, opb = Op::none;
  T alpha = 1, beta = 0;
  Matrix<T> c = Matrix<T>();  // on entry; left empty: NaN
  std::int64_t pad_a = 3, pad_b = 5, pad_c = 2;
};

template <class T>
struct Outcome {
  Matrix<T> c;
  Report report;
};

// Calls gemm; asserts that it wrote nothing around C, and that the engine asked for did the work.
template <class T>
Outcome<T> multiply(const Call<T>& call, const Options& options) {
  const std::int64_t m = call.a.rows(), n = call.b.columns(), k = call.a.columns();
  const Matrix<T> a = stored(call.opa, call.a, call.pad_a), b = stored(call.opb, call.b, call.pad_b);
  const bool given = call.c.rows() == m && call.c.columns() == n && m * n != 0;
  Outcome<T> out{given ? padded(call.c, call.pad_c) : Matrix<T>(m, n, call.pad_c), Report{}};
  out.report = gemm(call.opa, call.opb, m, n, k, call.alpha, a.data(), a.ld(), b.data(), b.ld(), call.beta,
                    out.c.data(), out.c.ld(), options);
  EXPECT_EQ(out.c.broken_guard(), "");
  if (options.contract.reproducible && m != 0 && n != 0 && k != 0 && call.alpha != T{0}) {
    EXPECT_EQ(out.report.plan.scheme, "residues") << out.report.plan.reason;
    if (!options.engine.empty()) {
      EXPECT_EQ(out.report.plan.engine, options.engine);
    }
    EXPECT_FALSE(out.report.fallback);
  }
  return out;
}

// C = RN(alpha T + RN(beta C)), as vernier.hpp has it.
template <class T>
Matrix<T> combined(T alpha, const Matrix<T>& product, T beta, const Matrix<T>& c) {
  return Matrix<T>::of(product.rows(), product.columns(), [&](auto i, auto j) -> T {
    if (alpha == 0) return beta == 0 ? T{0} : beta * c(i, j);
    if (beta == 0) return alpha * product(i, j);
    const T scaled = beta * c(i, j);
    return std::fma(alpha, product(i, j), scaled);
  });
}

}  // namespace vernier::test
