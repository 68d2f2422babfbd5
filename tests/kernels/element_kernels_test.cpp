// Elements on their way to an engine's planes and back, thread by thread on the host.
#include "residue/partial_gpu/element_kernels.cuh"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace vernier::cuda::element_kernels_test {
namespace {

struct Elements {
  int moduli, parts;
  std::int64_t bytes;

  std::vector<std::int8_t> random(std::int64_t count, std::uint64_t seed) const {
    std::mt19937_64 random(seed);
    std::vector<std::int8_t> x(static_cast<std::size_t>(count * bytes), 99);
    for (std::int64_t e = 0; e < count; ++e)
      for (int r = 0; r < parts * moduli; ++r) {
        const int p = vernier::moduli[static_cast<std::size_t>(r % moduli)];
        x[static_cast<std::size_t>(e * bytes + r)] =
            static_cast<std::int8_t>(smallest_residue(p) + static_cast<int>(random() % static_cast<unsigned>(p)));
      }
    return x;
  }
};

constexpr Elements kinds[] = {{15, 1, 16}, {49, 1, 56}, {7, 2, 16}};

// By the definition: real parts, imaginary parts, sums of both.
int factor(const Elements& kind, const std::int8_t* element, int q, int product) {
  const int real = element[q], imaginary = kind.parts == 2 ? element[kind.moduli + q] : 0;
  return product == 0 ? real : product == 1 ? imaginary : real + imaginary;
}

TEST(ElementsOnDevice, UnpackToPlanesOfEachRealProduct) {
  constexpr std::int64_t vectors = 5, k = 131;
  for (const Elements& kind : kinds)
    for (const ByteForm form : {ByteForm::symmetric, ByteForm::natural})
      for (const bool along : {false, true}) {
        const auto elements = kind.random(vectors * k, 7);
        const int products = real_products(kind.parts);
        const std::int64_t pitch = device_pitch(k);
        std::vector<std::uint8_t> planes(static_cast<std::size_t>(kind.moduli * products * vectors * pitch), 77);
        launch_unpack({.elements = reinterpret_cast<const std::byte*>(elements.data()),
                       .vectors = vectors,
                       .k = k,
                       .bytes = kind.bytes,
                       .k_contiguous = along,
                       .moduli = kind.moduli,
                       .products = products,
                       .form = form,
                       .planes = planes.data(),
                       .ld = along ? k : vectors},
                      nullptr);
        const std::uint8_t* got = planes.data();
        for (int plane = 0; plane < kind.moduli * products; ++plane)
          for (std::int64_t v = 0; v < vectors; ++v)
            for (std::int64_t l = 0; l < pitch; ++l, ++got) {
              const int q = plane / products, p = moduli[static_cast<std::size_t>(q)];
              const std::int64_t at = along ? l + v * k : v + l * vectors;
              const int expected = l < k ? factor(kind, elements.data() + at * kind.bytes, q, plane % products) : 0;
              const int residue = form == ByteForm::symmetric ? static_cast<std::int8_t>(*got) : *got;
              ASSERT_EQ((residue - expected) % p, 0) << "plane " << plane << ", vector " << v << ", k " << l;
            }
      }
}

TEST(ElementsOnDevice, PackResiduesOfTheProduct) {
  constexpr std::int64_t m = 37, n = 67;
  for (const Elements& kind : kinds) {
    const int products = real_products(kind.parts), planes = kind.moduli * products;
    const ProductUnits units = product_units(m, n);
    std::mt19937_64 random(9);
    std::vector<std::int8_t> residues(static_cast<std::size_t>(planes * units.plane_bytes()));
    for (int plane = 0; plane < planes; ++plane)
      for (std::int64_t b = 0; b < units.plane_bytes(); ++b) {
        const int p = moduli[static_cast<std::size_t>(plane / products)];
        const int beyond = p < largest_modulus ? 1 : 0;  // as an engine's may lie
        residues[static_cast<std::size_t>(plane * units.plane_bytes() + b)] = static_cast<std::int8_t>(
            smallest_residue(p) - beyond + static_cast<int>(random() % static_cast<unsigned>(p + 2 * beyond)));
      }
    std::vector<std::int8_t> elements(static_cast<std::size_t>(m * n * kind.bytes), 99);
    launch_pack({.products = residues.data(),
                 .m = m,
                 .n = n,
                 .bytes = kind.bytes,
                 .moduli = kind.moduli,
                 .parts = kind.parts,
                 .elements = reinterpret_cast<std::byte*>(elements.data()),
                 .ld = m},
                nullptr);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        const std::int8_t* element = elements.data() + (i + j * m) * kind.bytes;
        const std::int64_t unit = (j / unit_columns * units.down + i / unit_rows) * unit_bytes;
        const std::int64_t at = unit + unit_index(static_cast<int>(i % unit_rows), static_cast<int>(j % unit_columns));
        for (int q = 0; q < kind.moduli; ++q) {
          const int p = moduli[static_cast<std::size_t>(q)];
          const auto of = [&](int product) {
            return int{residues[static_cast<std::size_t>((q * products + product) * units.plane_bytes() + at)]};
          };
          ASSERT_EQ(element[q], symmetric_residue(kind.parts == 1 ? of(0) : of(0) - of(1), p));
          if (kind.parts == 2) {
            ASSERT_EQ(element[kind.moduli + q], symmetric_residue(of(2) - of(0) - of(1), p));
          }
        }
        for (std::int64_t b = kind.parts * kind.moduli; b < kind.bytes; ++b) ASSERT_EQ(element[b], 0);
      }
  }
}

}  // namespace
}  // namespace vernier::cuda::element_kernels_test
