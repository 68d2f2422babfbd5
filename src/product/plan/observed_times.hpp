// What products by estimate really took in this process: a method which loses here is left for another one. Never asked
// for products of a contract that promises bits, nor of an engine that was named.
//
// Products are told apart by form, type, threads and the octaves of m, n and k. Times count as shares of the estimates
// of their shapes, so that they serve other shapes of their class. One method is home; another one is looked at now and
// then, some calls in a row, and compared with what home took right before: what a busy machine does to both falls out.
// The median of three such ratios decides; equals go natively.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "number/complex.hpp"
#include "product/plan/native_cost.hpp"

namespace vernier {

enum class Method : std::uint8_t { native, residues, bf16x6, nonzeros };
inline constexpr int method_count = 4;

enum class ElementType : std::uint8_t { single_real, double_real, single_complex, double_complex };

template <class T>
inline constexpr ElementType element_type =
    is_complex<T> ? (std::is_same_v<RealType<T>, float> ? ElementType::single_complex : ElementType::double_complex)
                  : (std::is_same_v<RealType<T>, float> ? ElementType::single_real : ElementType::double_real);

// A whole product, a triangle of one (syrk), a product with a triangular factor (trmm, trsm), or one whose matrices lie
// in memory of the host, on the CPU or on a GPU.
enum class ProductForm : std::uint8_t { whole, triangle, factor, placed };

// Data whose products take other times: op(B) is op(A) transposed, or few elements are not zero.
inline constexpr int symmetric_data = 1, sparse_data = 2;

struct ProductClass {
  ElementType type;
  ProductShape shape;
  int threads;
  ProductForm form = ProductForm::whole;
  int contract = 0;  // a number for what else decides about times: data of a kind below, or a contract
};
std::uint64_t key_of(const ProductClass& product);  // not 0

// False: VERNIER_RATES is "none", so that estimates are those of the table alone.
bool observes();

// What the estimate of a method other than the native one counts as until it was seen: close ones go natively.
double cautious(double estimate);

// A method that may be taken, and the estimate of its seconds.
struct Rival {
  Method method;
  double estimate;
  double seen = 0;  // set by the choice: seconds by what was seen, or 0
  double seconds() const { return seen > 0 ? seen : estimate; }
};

// Those of one product, in the order of their methods.
struct Rivals {
  std::array<Rival, method_count> all{};
  std::size_t count = 0;

  void add(Method method, double estimate) { all[count++] = {method, estimate}; }
  std::span<Rival> span() { return {all.data(), count}; }
  std::span<const Rival> span() const { return {all.data(), count}; }
};

// The method of the next call: the same one until observe() tells what it took.
Method choose_method(const ProductClass& product, std::span<Rival> rivals);
void observe(const ProductClass& product, std::span<const Rival> rivals, Method taken, double seconds);

// So many calls like this thread's last one may go natively unobserved: observe() says how many, and counts those that
// went. No look at another method comes later for that.
inline constinit thread_local std::uint32_t calls_to_spare = 0, calls_spared = 0;

// How often the calling thread was given a rival to look at: what a call took says little where it was.
inline constinit thread_local std::uint64_t looks_so_far = 0;

void forget_observations();

}  // namespace vernier
