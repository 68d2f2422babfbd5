// Threads of a parallel region that call side by side. A program may bring an OpenMP runtime of its own, as wheels do,
// of whose regions the one that libvernier is linked to knows nothing.
#pragma once

namespace vernier::interpose {

// Is the calling thread one of a team, as any runtime of GNU's that is loaded says? Asks for no lock that a constructor
// of a library, or who waits for one, may hold.
bool in_a_team() noexcept;

}  // namespace vernier::interpose
