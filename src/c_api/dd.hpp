// A double-double of C as one of C++, and back.
#pragma once

#include "vernier/quad.hpp"
#include "vernier/vernier_quad.h"

namespace vernier::c_api {

static_assert(sizeof(vernier_dd) == sizeof(dd) && alignof(vernier_dd) == alignof(dd));

inline const dd* in_dd(const vernier_dd* x) { return reinterpret_cast<const dd*>(x); }
inline dd* out_dd(vernier_dd* x) { return reinterpret_cast<dd*>(x); }

}  // namespace vernier::c_api
