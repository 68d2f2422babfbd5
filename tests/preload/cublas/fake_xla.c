/* XLA's name and what it has loaded. */
int fake_xla(void);

int fake_xla(void) { return 0; }
