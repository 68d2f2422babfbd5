/* An OpenMP runtime as far as it says who is in a parallel region. */
static __thread int in_team = 0;

int omp_in_parallel(void) { return in_team; }
void enter_team(int now) { in_team = now; }
