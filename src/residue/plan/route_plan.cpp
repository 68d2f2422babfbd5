// What is queued for irregular products where the device decides what they need.
#include <algorithm>

#include "residue/plan/bounds.hpp"
#include "residue/plan/plan_cuda.hpp"
#include "residue/residues.hpp"
#include "residue/scale/block_spans.hpp"

namespace vernier {
namespace {

// More of the classes' numbers would be more launches that do nothing for most products.
constexpr int route_moduli[] = {19, 26, max_moduli};

// By scales from the product of |A| and |B|: numbers beyond those of ordinary products by the contract's rule; and
// where one modulus takes far longer than the launches of a class that stays closed. 19 are the most whose closed
// recombination is no more than the start of few blocks.
constexpr int bound_moduli_beyond[] = {0, 2, 4, 11}, large_bound_moduli_beyond[] = {0, 1, 2, 3, 4, 11};
constexpr double class_launches = 16e-6, far_longer = 25;

bool is_large(const DeviceProductPlan& plan, int moduli) {
  const auto seconds = [&](int count) { return device_residue_seconds(plan.shape, count, false, plan.gpu); };
  return seconds(moduli + 1) - seconds(moduli) > far_longer * class_launches;
}

// The conventional product of a chain takes so many times cuBLAS's time.
constexpr double conventional_factor = 1.4;

// As if nothing were zero: up to 19 moduli, the most of passes that leave out zeros, take less than conventional_factor
// of the time wherever any do.
double class_seconds(const DeviceProductPlan& plan, int moduli) {
  return plan.bound
             ? device_bound_seconds(plan.shape, plan.gpu) + device_residue_seconds(plan.shape, moduli, false, plan.gpu)
             : irregular_device_seconds(plan.shape, {moduli}, plan.gpu);
}

void add_class(const DeviceProductPlan& plan, int moduli, cuda::RouteClasses& classes) {
  const double native = device_native_seconds(plan.shape, plan.single_precision, plan.gpu);
  const int before = classes.count == 0 ? 0 : classes.moduli[classes.count - 1];
  if (moduli <= before || (plan.native == NativeUse::for_speed &&
                           class_seconds(plan, moduli) > native * (plan.bound ? conventional_factor : 1)))
    return;
  classes.moduli[classes.count] = moduli;
  classes.log2_bound[classes.count++] = log2_bound_of(moduli);
}

cuda::RouteClasses route_classes(const DeviceProductPlan& plan) {
  cuda::RouteClasses classes;
  if (!plan.bound) {
    for (const int moduli : route_moduli) add_class(plan, moduli, classes);
    return classes;
  }
  // Where cuBLAS takes all irregular products whose host waits, no class is worth its kernels.
  if (plan.most_bound_moduli == 0) return classes;
  const int least = moduli_of(plan.contract_rule, plan.shape.k);
  const auto add = [&](int beyond) { add_class(plan, std::min(least + beyond, max_moduli), classes); };
  if (is_large(plan, least))
    std::ranges::for_each(large_bound_moduli_beyond, add);
  else
    std::ranges::for_each(bound_moduli_beyond, add);
  if (plan.native == NativeUse::never) add_class(plan, max_moduli, classes);
  return classes;
}

// Of fewer moduli than the others: what the last product took, whose scales were those of the product of |A| and |B|.
void add_least_class(int moduli, cuda::RouteClasses& classes) {
  if (moduli <= 0 || classes.count == 0 || classes.count == cuda::most_route_classes || moduli >= classes.moduli[0])
    return;
  std::shift_right(classes.moduli, classes.moduli + ++classes.count, 1);
  std::shift_right(classes.log2_bound, classes.log2_bound + classes.count, 1);
  classes.moduli[0] = moduli;
  classes.log2_bound[0] = log2_bound_of(moduli);
}

}  // namespace

// Passes of all classes, whole where they may be.
std::size_t device_route_bytes(const DeviceProductPlan& plan, std::size_t available) {
  const cuda::RouteClasses classes = route_classes(plan);
  const int moduli =
      classes.count > 0 ? classes.moduli[classes.count - 1] : moduli_of(plan.contract_rule, plan.shape.k);
  return choose_device_blocking(plan.shape, moduli, plan.limits, available).bytes;
}

DeviceRoutePlan plan_device_route(const DeviceProductPlan& plan, const LastProduct& last) {
  DeviceRoutePlan route;
  route.share = last.share;
  const bool hollow = is_hollow(last.share);
  const auto blocking = [&](int moduli) {
    return choose_device_blocking(plan.shape, moduli, plan.limits, plan.pass_bytes);
  };
  route.bound = plan.bound.has_value();
  route.ordinary = {.blocking = blocking(moduli_of(plan.contract_rule, plan.shape.k)),
                    .words = ordinary_words(plan.contract_rule),
                    .every_entry = false};
  route.classes = route_classes(plan);
  if (route.bound) add_least_class(last.moduli, route.classes);
  for (int c = 0; c < route.classes.count; ++c) {
    const int moduli = route.classes.moduli[c];
    if (last.moduli > 0 && moduli >= last.moduli && route.usual < 0) route.usual = c;
    // All words that such a class may take; behind its gate nothing but the faster recombination is queued.
    const bool strassen = !hollow && route.bound && plan.native != NativeUse::never && strassen_serves(plan, moduli, 3);
    route.wide[c] = {.blocking = blocking(moduli), .ordinary = false, .every_entry = route.bound};
    if (!strassen) continue;
    const DeviceBlocking halves =
        choose_device_blocking(plan.shape, moduli, plan.limits, plan.pass_bytes, {.strassen = true});
    if (halves.bytes <= plan.pass_bytes) route.wide[c].blocking = halves;
  }
  route.spans = !route.bound && route.classes.count > 0 && plan.shape.k <= longest_spanned_k;
  route.native = plan.native != NativeUse::never;
  return route;
}

}  // namespace vernier
