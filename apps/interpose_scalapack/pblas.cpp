#include "pblas.hpp"

#include <cstring>

#include "original.hpp"

namespace vernier::interpose {
namespace {

template <class Pointer>
void find(const char* name, Pointer& pointer, std::string& missing) {
  pointer = reinterpret_cast<Pointer>(original(name));
  if (pointer == nullptr && missing.empty()) missing = std::string("it has no ") + name;
}

// Does a place of the table hold that function? Functions of the BLAS may be those of a preload.
bool holds(Function place, const char* name) {
  void* const address = reinterpret_cast<void*>(place);
  return address != nullptr && (address == original(name) || address == look_up(nullptr, name));
}

// The table of doubles that the library itself fills in tells whether places and sizes are those of PblasType.
std::string fault_of(const PblasType& t) {
  double zero, one;
  if (t.type != 'D' || t.usiz != 8 || t.size != 8 || t.zero == nullptr || t.one == nullptr)
    return "its table of functions begins with other fields";
  std::memcpy(&zero, t.zero, sizeof zero);
  std::memcpy(&one, t.one, sizeof one);
  if (zero != 0 || one != 1) return "its table of functions begins with other fields";
  const std::pair<Function, const char*> places[] = {
      {t.Cgesd2d, "Cdgesd2d"}, {t.Cgerv2d, "Cdgerv2d"}, {t.Cgebs2d, "Cdgebs2d"},   {t.Cgebr2d, "Cdgebr2d"},
      {t.Cgsum2d, "Cdgsum2d"}, {t.Fmmadd, "dmmadd_"},   {t.Fmmddact, "dmmddact_"}, {t.Ftzpad, "dtzpad_"},
      {t.Ftzscal, "dtzscal_"}, {t.Fgemm, "dgemm_"},     {t.Ftrsm, "dtrsm_"}};
  for (const auto& [place, name] : places)
    if (!holds(place, name)) return std::string("its table of functions has no ") + name + " where it should be";
  return "";
}

std::string fault_of_version() {
  using Version = void (*)(int*, int*, int*);
  const auto version = reinterpret_cast<Version>(original("pilaver_"));
  if (version == nullptr) return "it does not tell its version (pilaver_)";
  int major = 0, minor = 0, patch = 0;
  version(&major, &minor, &patch);
  if (major == 2) return "";
  return "it is of version " + std::to_string(major) + "." + std::to_string(minor) + "; expected 2";
}

Pblas load() {
  Pblas p;
  find("Cblacs_gridinfo", p.grid, p.missing);
  find("Cdgesd2d", p.send, p.missing);
  find("Cdgerv2d", p.receive, p.missing);
  find("Cdgebs2d", p.broadcast, p.missing);
  find("Cdgebr2d", p.receive_broadcast, p.missing);
  find("Cdgsum2d", p.sum, p.missing);
  find("Cdgamx2d", p.maximum, p.missing);
  find("PB_CpgemmAB", p.product_ab, p.missing);
  find("PB_CpgemmAC", p.product_ac, p.missing);
  find("PB_CpgemmBC", p.product_bc, p.missing);
  find("pilaenv_", p.block, p.missing);
  const char* const tables[] = {"PB_Cstypeset", "PB_Cdtypeset", "PB_Cctypeset", "PB_Cztypeset"};
  for (int i = 0; i < 4; ++i) find(tables[i], p.tables[i], p.missing);
  if (p.missing.empty()) p.missing = fault_of_version();
  if (p.missing.empty()) p.missing = fault_of(*p.table(VERNIER_D)());
  return p;
}

}  // namespace

Pblas::Table Pblas::table(vernier_type type) const {
  return tables[type == VERNIER_S ? 0 : type == VERNIER_D ? 1 : type == VERNIER_C ? 2 : 3];
}

const Pblas& pblas() {
  static const Pblas& once = *new Pblas(load());
  return once;
}

}  // namespace vernier::interpose
