/* The table of system calls of confined workers: every row is a call of some machine, once, with who needs it and what for; and
 * what a manifest may allow by name. */
#include "main.h"

#include <seccomp.h>
#include <string.h>

#include "runtime/ipc/calls.h"

/* Who may be said to need a call. */
static const char *const known[] = {"libc",    "worker",   "lavapipe", "SwiftShader", "PoCL",
				    "rusticl", "Oclgrind", "NVIDIA",   "Mesa"};

static int is_known(const char *who)
{
	for (size_t i = 0; who && i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(who, known[i]))
			return 1;
	return 0;
}

/* What is wrong with row i; NULL: nothing. */
static const char *fault_of(const pctl_call_row *rows, uint32_t n, uint32_t i)
{
	const pctl_call_row *r = &rows[i];

	if (seccomp_syscall_resolve_name(r->name) == __NR_SCMP_ERROR)
		return "no machine has it";
	if (!r->why || strlen(r->why) < 5)
		return "nobody says what for";
	if (r->verdict != PCTL_CALL_NEVER && !is_known(r->who))
		return "nobody is known to need it";
	if (r->verdict == PCTL_CALL_ALLOWED && r->set == PCTL_CALLS_BASE &&
	    strcmp(r->who, "libc") != 0 && strcmp(r->who, "worker") != 0)
		return "who computes has no driver";
	if (r->verdict == PCTL_CALL_QUIET && !r->error)
		return "refused without an error";
	for (uint32_t k = 0; k < n; k++)
		if (k != i && !strcmp(rows[k].name, r->name) &&
		    (rows[k].verdict != PCTL_CALL_ALLOWED || r->verdict != PCTL_CALL_ALLOWED ||
		     rows[k].set == r->set))
			return "it is there twice";
	return NULL;
}

static void calls__every_row_has_its_reason(void **state)
{
	const pctl_call_row *rows;
	uint32_t n, i;

	(void)state;
	rows = pctl_call_rows(&n);
	assert_true(n > 200);
	for (i = 0; i < n; i++)
		if (fault_of(rows, n, i))
			fail_msg("%s: %s", rows[i].name, fault_of(rows, n, i));
}

static void calls__a_bad_row_is_found(void **state)
{
	static const pctl_call_row bad[] = {
		{"no_such_call", PCTL_CALL_NEVER, 0, 0, 0, NULL, "the kernel itself"},
		{"read", PCTL_CALL_ALLOWED, PCTL_CALLS_BASE, 0, 0, "libc", ""},
		{"write", PCTL_CALL_ALLOWED, PCTL_CALLS_BASE, 0, 0, "somebody", "writing"},
		{"mlock", PCTL_CALL_ALLOWED, PCTL_CALLS_BASE, 0, 0, "NVIDIA", "pinned memory"},
		{"chmod", PCTL_CALL_QUIET, 0, 0, 0, "PoCL", "the linker"},
		{"ptrace", PCTL_CALL_ALLOWED, PCTL_CALLS_DRIVER, 0, 0, "NVIDIA", "debuggers"},
		{"ptrace", PCTL_CALL_NEVER, 0, 0, 0, NULL, "other processes"},
	};
	const uint32_t n = sizeof(bad) / sizeof(bad[0]);

	(void)state;
	for (uint32_t i = 0; i < n; i++)
		if (!fault_of(bad, n, i))
			fail_msg("%s passes", bad[i].name);
}

static void calls__a_manifest_allows_no_way_out(void **state)
{
	static const char *const no[] = {
		"ptrace",	  "bpf",   "clone", "clone3", "fork",	      "execve", "socket",
		"io_uring_setup", "chmod", "kill",  "ioctl",  "memfd_create", "seccomp"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (pctl_call_can_be_allowed(no[i]))
			fail_msg("a manifest may allow %s", no[i]);
	assert_true(pctl_call_can_be_allowed("munlockall"));
	assert_true(pctl_call_can_be_allowed("mlock"));
	assert_int_equal(pctl_call_set("driver"), PCTL_CALLS_DRIVER);
	assert_int_equal(pctl_call_set("processes"), PCTL_CALLS_PROCESSES);
	assert_int_equal(pctl_call_set("programs"), 0);
	assert_int_equal(pctl_call_set("base"), 0);
}

PCTL_TESTS_MAIN(PCTL_TEST(calls__every_row_has_its_reason), PCTL_TEST(calls__a_bad_row_is_found),
		PCTL_TEST(calls__a_manifest_allows_no_way_out))
