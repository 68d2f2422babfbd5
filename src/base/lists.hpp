// Lists of names in macros, of up to 64.
#pragma once

// F(x, a), F(x, b), F(x, c) of VERNIER_LIST(F, x, a, b, c).
#define VERNIER_LIST(F, x, ...) VERNIER_SCAN(VERNIER_LISTED(F, x, __VA_ARGS__))
#define VERNIER_LISTED(F, x, name, ...) F(x, name) __VA_OPT__(, VERNIER_NEXT VERNIER_PARENTHESES(F, x, __VA_ARGS__))
#define VERNIER_NEXT() VERNIER_LISTED
#define VERNIER_PARENTHESES ()
#define VERNIER_SCAN(...) VERNIER_SCAN_16(VERNIER_SCAN_16(VERNIER_SCAN_16(VERNIER_SCAN_16(__VA_ARGS__))))
#define VERNIER_SCAN_16(...) VERNIER_SCAN_4(VERNIER_SCAN_4(VERNIER_SCAN_4(VERNIER_SCAN_4(__VA_ARGS__))))
#define VERNIER_SCAN_4(...) VERNIER_SCAN_1(VERNIER_SCAN_1(VERNIER_SCAN_1(VERNIER_SCAN_1(__VA_ARGS__))))
#define VERNIER_SCAN_1(...) __VA_ARGS__

// {"m", plan.m}, {"n", plan.n} of VERNIER_FIELDS(plan, m, n): entries of JSON.
#define VERNIER_FIELDS(of, ...) VERNIER_LIST(VERNIER_FIELD, of, __VA_ARGS__)
#define VERNIER_FIELD(of, name) \
  { #name, (of).name }
