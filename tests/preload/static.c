/* Linked statically: nothing can be preloaded. */
int main(void) { return 7; }
