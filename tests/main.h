/* The shared main of unit tests: a group in which nothing ran, or in which every test was skipped, fails. */
#ifndef PIPECTL_TESTS_MAIN_H
#define PIPECTL_TESTS_MAIN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Sanitizers look for faults of memory, overflow and races in the code that random programs go through, and take ten to twenty
 * times as long: one of 25 programs goes the same ways. What they answer is held by the build without sanitizers, by day for one of four
 * and with PCTL_TEST_MORE in the environment (pctl_more in CMakeLists.txt) for all. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PCTL_TEST_SANITIZED 1
#define PCTL_TEST_SHARE(n) ((n) / 25u)
#else
#define PCTL_TEST_SANITIZED 0
#define PCTL_TEST_SHARE(n) ((n) / (pctl_test_more() ? 1u : 4u))
#endif

static inline int pctl_test_more(void)
{
	return getenv("PCTL_TEST_MORE") != NULL;
}

static unsigned tests_skipped;

/* Skip the current test, with the reason; cmocka's own skip() goes uncounted and is not used. */
#define PCTL_SKIP(reason)                                 \
	do {                                              \
		fprintf(stderr, "skipped: %s\n", reason); \
		tests_skipped++;                          \
		skip();                                   \
	} while (0)

#define PCTL_TEST(f) cmocka_unit_test(f)
#define PCTL_TESTS_MAIN(...) PCTL_TESTS_MAIN_WITH(NULL, NULL, __VA_ARGS__)
/* Between what prepares the group and what puts it back, as cmocka has them. */
#define PCTL_TESTS_MAIN_WITH(setup, teardown, ...)                                     \
	int main(void)                                                                 \
	{                                                                              \
		const struct CMUnitTest tests[] = {__VA_ARGS__};                       \
		const unsigned n_tests = (unsigned)(sizeof(tests) / sizeof(tests[0])); \
		int failed = cmocka_run_group_tests(tests, setup, teardown);           \
		if (n_tests == 0 || tests_skipped >= n_tests) {                        \
			fprintf(stderr, "no test was run\n");                          \
			return 1;                                                      \
		}                                                                      \
		return failed != 0;                                                    \
	}

#endif
