// How contract `exact` rounds a real number to a floating-point number: IEEE 754's four directions.
#pragma once

namespace vernier {

enum class Rounding {
  nearest,  // ties to even
  down,     // toward minus infinity
  up,       // toward plus infinity
  toward_zero,
};

}  // namespace vernier
