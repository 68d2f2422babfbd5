// 128-bit integers, which GCC and Clang have on every 64-bit machine.
#pragma once

namespace vernier {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

}  // namespace vernier
