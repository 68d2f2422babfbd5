#include "functions.hpp"

#include "libvernier.hpp"

namespace vernier::interpose {
namespace {

DistributedFunctions load_all() {
  DistributedFunctions f;
  load("vernier_distributed_create", f.create);
  load("vernier_distributed_destroy", f.destroy);
  load("vernier_distributed_scanning", f.scanning);
  load("vernier_distributed_scan", f.scan);
  load("vernier_distributed_maxima", f.maxima);
  load("vernier_distributed_sums", f.sums);
  load("vernier_distributed_refuse", f.refuse);
  load("vernier_distributed_combine", f.combine);
  load("vernier_distributed_regular", f.regular);
  load("vernier_distributed_passes", f.passes);
  load("vernier_distributed_moduli", f.moduli);
  load("vernier_distributed_element_bytes", f.element_bytes);
  load("vernier_distributed_convert", f.convert);
  load("vernier_distributed_multiply", f.multiply);
  load("vernier_distributed_add", f.add);
  load("vernier_distributed_finish", f.finish);
  return f;
}

}  // namespace

const DistributedFunctions& distributed() {
  static const DistributedFunctions once = load_all();
  return once;
}

}  // namespace vernier::interpose
