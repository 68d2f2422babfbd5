// CPU or GPU for matrices of the host (vernier/offload.hpp).
#pragma once

#include <optional>
#include <string>

#include "blas/offload/place.hpp"
#include "offload/schedule.hpp"
#include "product/plan/native_cost.hpp"
#include "vernier/offload.hpp"

namespace vernier {

// What a product takes by estimate, in seconds.
struct OffloadEstimate {
  double up = 0, down = 0, product = 0, gpu = 0, cpu = 0;
};
// Of the CPU, by the method that it takes the least time by; with some of the threads, as if others had the rest.
template <class T>
double cpu_estimate(const ProductShape& shape, const Options& options);

struct CopyRates {
  double up = 0, down = 0;  // bytes a second
};
OffloadEstimate estimate_offload(const ProductShape& shape, std::size_t element, bool reads_c, double product_seconds,
                                 double cpu_seconds, const CopyRates& link);

// Do the options, or the thread, name a GPU or leave the choice? CUDA is not asked.
bool asks_for_a_gpu(const Options& options);
bool leaves_the_choice(const Options& options);

// Of a product that devices share.
template <class T>
double shared_product_seconds(const offload::Staged& copies, std::int64_t k, const Contract& contract);

// The choice is free, and one core is done while the first piece goes up: nothing is estimated.
template <class T>
bool stays_on_the_cpu(const ProductShape& shape, const Options& options);

// What choose_place() was asked: the class of a call, and its estimates.
struct PlacedClass {
  std::uint64_t key;
  PlaceEstimate estimate;
};
Place choose_place(const PlacedClass& product);
Place expected_place(const PlacedClass& product);
void forget_places();

// Where a product or a routine is made; where the choice is free, later ones follow what it took.
struct Placement {
  std::optional<Plan> on_gpu;
  std::optional<PlacedClass> chosen;  // by choose_place()
  std::uint64_t looks = 0;            // of the CPU at methods of its own, before it

  void took(double seconds) const noexcept;
};

// reads_c: beta is not 0.
template <class T>
Placement place_product(const ProductShape& shape, bool reads_c, const Options& options);

// The plan on a GPU of such products, if they are expected to be made there in the long run.
template <class T>
std::optional<Plan> explain_offload(const ProductShape& shape, const Options& options);

// A routine whose operands go up once, and whose output comes down once.
struct RoutineWork {
  const char* name;
  ProductShape shape;            // of the product that it amounts to
  double share = 1;              // of that product's operations
  double panels = 0;             // seconds on a GPU of what is no product
  std::size_t up = 0, down = 0;  // bytes
};
OffloadEstimate estimate_routine(const RoutineWork& work, double product_seconds, double cpu_seconds,
                                 const CopyRates& link);
template <class T>
Placement place_routine(const RoutineWork& work, const Options& options);

// Words for the report of a product that was asked of a GPU and has no such plan; "" of others.
std::string why_not_on_a_gpu(const Options& options);

// The link to GPUs. The first call of CUDA and the first kernels take half a second or more: where the choice is free,
// a thread makes them beside the CPU's products.
// Waits for CUDA, and measures what copies reach, once.
const HostLink& measured_link();

// The same once CUDA is awake; null until then. The first call wakes it. A program that ends meanwhile waits.
const HostLink* link_if_awake();

}  // namespace vernier
