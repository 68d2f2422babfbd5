// What products by estimate really took in this process: estimates give way to it, so that a method which loses here is
// left for another one. Never asked for products of a contract that promises bits, nor of an engine that was named.
//
// Products are told apart by form, type, threads and the octaves of m, n and k; times count per multiplication. A
// method is known by the least of its last three times, once it has had two calls that take ten milliseconds together
// at its best, the last of which was no longer much faster than those before, or 32: the first ones pay for memory, and
// for threads of the method before that spin still. One that was left is forgotten after a pause, so that a busy moment
// does not last: the more it lost, the longer, so that looking again takes a fiftieth of the time at most.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "number/complex.hpp"
#include "product/plan/native_cost.hpp"

namespace vernier {

enum class Method : std::uint8_t { native, residues, bf16x6 };
inline constexpr int method_count = 3;

enum class ElementType : std::uint8_t { single_real, double_real, single_complex, double_complex };

template <class T>
inline constexpr ElementType element_type =
    is_complex<T> ? (std::is_same_v<RealType<T>, float> ? ElementType::single_complex : ElementType::double_complex)
                  : (std::is_same_v<RealType<T>, float> ? ElementType::single_real : ElementType::double_real);

// A whole product, a triangle of one (syrk), a product with a triangular factor (trmm, trsm), or one whose matrices lie
// in memory of the host, on the CPU or on a GPU.
enum class ProductForm : std::uint8_t { whole, triangle, factor, placed };

struct ProductClass {
  ElementType type;
  ProductShape shape;
  int threads;
  ProductForm form = ProductForm::whole;
  int contract = 0;  // a number for what else decides about times
};
std::uint64_t key_of(const ProductClass& product);  // not 0

// False: VERNIER_RATES is "none", so that estimates are those of the table alone.
bool observes();

// What the estimate of a method other than the native one counts as until it was seen: close ones go natively.
double cautious(double estimate);

void observe(const ProductClass& product, Method method, double seconds);

// Seconds of a product that so far took as much, or 0 where that is not known. `chosen` says which method was taken in
// the end: pauses count calls.
double observed_seconds(const ProductClass& product, Method method);
void note_choice(const ProductClass& product, Method chosen);

// The method that takes the least, by what is known of each, else by its estimate. Estimates err: once the best one is
// known, a rival that is not yet, and which may take four times as long at most, is looked at; the native product
// always, and up to 32 times where its calls are brief and take four times their estimate. One whose estimate is below
// what the best takes, and a third of what it took at least, has five looks: the first two may have met a busy moment.
// Estimates of residues and bf16 parts err alike: what the one took of its estimate, the other is expected to take.
struct Rival {
  Method method;
  double estimate;
  double seen = 0;  // set by the choice: what is known, or 0
  double seconds() const { return seen > 0 ? seen : estimate; }
};
Method choose_method(const ProductClass& product, std::span<Rival> rivals);

// How often the calling thread was given a rival to look at: what a call took says little where it was.
std::uint64_t looks_so_far();

void forget_observations();

}  // namespace vernier
