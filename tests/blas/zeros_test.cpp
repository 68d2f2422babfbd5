// Triangles, bands and blocks, whose zeros are neither converted nor multiplied: integers, whose product has one right
// answer.
#include "fixture.hpp"

namespace vernier::test::zeros_test {
namespace {

class ProductsWithZeros : public PerEngine {};
INSTANTIATE_TEST_SUITE_P(Engines, ProductsWithZeros, testing::ValuesIn(engine_cases()), ReadableName());

enum class Form { full, triangle, band, block, late, empty };

// Element l of vector v, of k, or 0.
template <class T>
T element(Form form, std::int64_t v, std::int64_t l, std::int64_t k) {
  const bool zero = form == Form::triangle ? l > 3 * v
                    : form == Form::band   ? l < 4 * v || l > 4 * v + 200
                    : form == Form::block  ? l / 100 % 4 != v / 32 % 4
                    : form == Form::late   ? l < k - 1 - v
                                           : form == Form::empty;
  return zero ? T{0} : static_cast<T>((7 * v + 11 * l + v * l % 13) % 15 - 7);
}

// The workspace holds residues of full operands when those of the others come.
TEST_P(ProductsWithZeros, AreExact) {
  with_type([this]<class T>(T) {
    constexpr Form forms[] = {Form::full, Form::triangle, Form::band, Form::block, Form::late, Form::empty};
    std::vector<std::byte> memory(std::size_t{64} << 20);
    for (const auto& [m, n, k, in_blocks] :
         {std::tuple{70, 100, 1100, false}, {33, 65, 330, false}, {130, 100, 500, true}, {5, 40, 33000, false}})
      for (const Form of_rows : forms)
        for (const Form of_columns : forms) {
          if (of_columns != of_rows && of_columns > Form::triangle) continue;
          const std::int64_t length = k;
          const auto a = Matrix<T>::of(m, k, [&](auto i, auto l) { return element<T>(of_rows, i, l, length); });
          const auto b = Matrix<T>::of(k, n, [&](auto l, auto j) { return element<T>(of_columns, j, l, length); });
          Matrix<T> expected(m, n), c(m, n);
          for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < m; ++i) {
              T sum = 0;
              for (std::int64_t l = 0; l < k; ++l) sum += a(i, l) * b(l, j);
              expected(i, j) = sum;
            }
          Options by = options<T>();
          by.workspace = memory.data();
          by.workspace_bytes = in_blocks ? gemm_workspace<T>(m, n, k, by, true) : memory.size();
          gemm<T>(Op::none, Op::none, m, n, k, 1, a.data(), a.ld(), b.data(), b.ld(), 0, c.data(), c.ld(), by);
          SCOPED_TRACE(joined(m, " x ", n, " x ", k, ", ", static_cast<int>(of_rows), static_cast<int>(of_columns)));
          EXPECT_EQ(difference(c, expected), "");
          by.contract.reproducible = false;  // by other scales
          by.workspace_bytes = memory.size();
          gemm<T>(Op::none, Op::none, m, n, k, 1, a.data(), a.ld(), b.data(), b.ld(), 0, c.data(), c.ld(), by);
          double error = 0;
          for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < m; ++i)
              error = std::max(error, std::abs(static_cast<double>(c(i, j)) - static_cast<double>(expected(i, j))));
          EXPECT_LE(error, 49 * static_cast<double>(k) * static_cast<double>(std::numeric_limits<T>::epsilon()));
        }
  });
}

}  // namespace
}  // namespace vernier::test::zeros_test
