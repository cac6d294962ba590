/* Which system calls a confined worker may make: each kind of plugin has its list, a manifest allows what it names, what is
 * refused is named, and a kernel that cannot do this is told of. The calls are made by forbidden.c. */
#include "setup.h"

#include <errno.h>
#include <seccomp.h>
#include <sys/syscall.h>

#include "planted/planted.h"
#include "runtime/ipc/calls.h"

/* The run-time of a sanitizer starts a process at the end: every worker may. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static const pctl_worker_limits limits = {
	.memory = 96u << 20, .file = 1u << 30, .tasks = 24, .processes = 12};

/* One call of a backend of some kind: what it is refused is named, beside the failure that comes of it. */
static void ask_for(const char *what, const char *manifest, uint32_t without, const char *refused)
{
	pctl_support support = {.head = PCTL_HEAD(pctl_support)};
	pctl_backend_instance *s;
	const char *said = NULL;
	pctl_device *dev;
	pctl_status st;
	fixture f;
	uint32_t i;

	fixture_begin(&f);
	fixture_manifest(&f, "fake", FAKES "/forbidden.so", manifest);
	f.limits = limits;
	f.without = without;
	fixture_open(&f, 5000);
	assert_int_equal(pctl_backend_instance_open(f.r, "fake", NULL, 0, f.call, &s), PCTL_OK);
	assert_int_equal(s->table->device_open(s->inst, f.call, 0, &dev), PCTL_OK);
	st = s->table->supports(dev, f.call, (const uint8_t *)what, 1, &support);
	for (i = 0; i < pctl_diag_list_count(f.diags); i++)
		if (pctl_diag_list_at(f.diags, i)->code == PC3113_WORKER_CALL)
			said = pctl_diag_list_at(f.diags, i)->message;
	if (!refused && (st || said))
		fail_msg("%s with \"%s\": %d, %s", what, manifest, st, said ? said : "no word");
	if (refused && (!st || (*refused && (!said || !strstr(said, refused)))))
		fail_msg("%s with \"%s\": %d, %s", what, manifest, st, said ? said : "no word");
	if (refused && !*refused && said)
		fail_msg("%s is told: %s", what, said);
	if (refused && *refused)
		planted(refused, *manifest ? manifest : "a backend without a driver", "PC3113",
			said);
	s->table->device_close(dev);
	pctl_backend_instance_close(s, f.call);
	fixture_end(&f);
}

static void confine__each_kind_has_its_list(void **state)
{
	const char *driver = "calls = [ \"driver\" ];", *processes = "calls = [ \"processes\" ];";
	const char *alone = "calls = [ \"munlockall\" ];";

	(void)state;
	/* What computes needs none of these. */
	ask_for("m", "", 0, "memfd_create");
	if (!SANITIZED)
		ask_for("f", "", 0, "clone");
	ask_for("i", "", 0, "ioctl");
	ask_for("u", "", 0, "munlockall");
	ask_for("p", "", 0, "pidfd_open");
	ask_for("n", "", 0, "clone");
	/* Signals to others by way of a descriptor, and a life longer than the host's. */
	ask_for("o", "", 0, "fcntl");
	ask_for("r", "", 0, NULL);
	if (!SANITIZED) {
		ask_for("d", "", 0, "prctl");
		ask_for("D", "", 0, "prctl");
	}
	/* Sets and single calls, each alone. */
	ask_for("m", driver, 0, NULL);
	ask_for("i", driver, 0, NULL);
	ask_for("M", driver, 0, "memfd_create");
	ask_for("o", driver, 0, "fcntl");
	ask_for("g", driver, 0, "ioctl");
	ask_for("c", driver, 0, "fchmod");
	if (!SANITIZED)
		ask_for("f", driver, 0, "clone");
	ask_for("f", processes, 0, NULL);
	ask_for("n", processes, 0, "clone");
	ask_for("m", processes, 0, "memfd_create");
	ask_for("u", driver, 0, "munlockall");
	ask_for("u", alone, 0, NULL);
	/* Known to be asked for and to do without: refused, and not spoken of. */
	ask_for("s", driver, 0, "");
	/* Landlock has no word on dates: those of files that it opened it may set, and of no other. */
	ask_for("a", driver, 0, NULL);
	ask_for("t", driver, 0, "");
	ask_for("T", driver, 0, "");
	ask_for("t", "", PCTL_CONFINE_SECCOMP, NULL);
	/* On a kernel whose filters ask nobody they are refused all the same, in silence. */
	ask_for("m", "", PCTL_CONFINE_SUPERVISOR, "");
	if (!SANITIZED)
		ask_for("f", "", PCTL_CONFINE_SUPERVISOR, "");
	ask_for("n", processes, PCTL_CONFINE_SUPERVISOR, "");
	ask_for("f", processes, PCTL_CONFINE_SUPERVISOR, NULL);
	/* And without a filter there is nothing that refuses. */
	ask_for("m", "", PCTL_CONFINE_SECCOMP, NULL);
	ask_for("f", "", PCTL_CONFINE_SECCOMP, NULL);
	ask_for("i", "", PCTL_CONFINE_SECCOMP, NULL);
	ask_for("u", "", PCTL_CONFINE_SECCOMP, NULL);
	ask_for("p", "", PCTL_CONFINE_SECCOMP, NULL);
	ask_for("o", "", PCTL_CONFINE_SECCOMP, NULL);
	ask_for("d", "", PCTL_CONFINE_SECCOMP, NULL);
	ask_for("n", "", PCTL_CONFINE_SECCOMP, NULL);
	ask_for("s", "", PCTL_CONFINE_SECCOMP, NULL);
}

/* ---- every number there is ---------------------------------------------------------------- */

#define NUMBERS 512u /* more than any machine has, and as many again in another table */

/* The error that a call by this number with arguments of -1 is refused with in a worker with these sets; 0: it is allowed. What
 * the table says, read by itself: no condition holds for -1, but that which lists what is refused. */
static int wanted(long number, uint32_t sets)
{
	const pctl_call_row *rows;
	uint32_t n;
	int error = EPERM;
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, (int)number);

	rows = pctl_call_rows(&n);
	for (uint32_t i = 0; name && i < n; i++) {
		if (strcmp(rows[i].name, name) != 0)
			continue;
		if (rows[i].verdict == PCTL_CALL_QUIET)
			error = rows[i].error;
		else if (rows[i].verdict == PCTL_CALL_ALLOWED && rows[i].set & sets &&
			 (rows[i].condition == PCTL_CALL_ANY ||
			  rows[i].condition == PCTL_CALL_NO_OWNER))
			error = 0;
	}
	free(name);
	return error;
}

/* Allowed ones that whoever makes them does not come back from, or not for long; and those that become one more, whose
 * flags no call of -1 has. */
static int is_left_out(long number, int error)
{
	static const long ends[] = {SYS_exit,	      SYS_exit_group,
				    SYS_rt_sigreturn, SYS_restart_syscall,
#ifdef SYS_pause
				    SYS_pause,
#endif
#ifdef SYS_fork
				    SYS_fork,	      SYS_vfork,
#endif
				    SYS_clone};

#if defined(__x86_64__)
	/* uretprobe and uprobe: of the kernel's own trampolines, past every filter (Linux 6.14, 6.18); a signal to others. */
	if (number == 335 || number == 336)
		return 1;
#endif
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (number == ends[i])
			return error == 0 || i >= sizeof(ends) / sizeof(ends[0]) - 3;
	return 0;
}

static void numbers_of(const char *manifest, uint32_t sets, uint32_t least, uint32_t most)
{
	uint8_t asked[2 * NUMBERS] = {0}, got[2 * NUMBERS];
	uint32_t refused = 0;
	pctl_backend_instance *s;
	pctl_buffer *buf;
	pctl_device *dev;
	fixture f;

	for (uint32_t i = 0; i < NUMBERS; i++)
		asked[i] = asked[NUMBERS + i] = !is_left_out(i, wanted(i, sets));
	fixture_begin(&f);
	fixture_manifest(&f, "fake", FAKES "/numbers.so", manifest);
	f.limits = limits;
	fixture_open(&f, 5000);
	assert_int_equal(pctl_backend_instance_open(f.r, "fake", NULL, 0, f.call, &s), PCTL_OK);
	assert_int_equal(s->table->device_open(s->inst, f.call, 0, &dev), PCTL_OK);
	assert_int_equal(s->table->buffer_create(dev, f.call, sizeof(asked), 0, &buf), PCTL_OK);
	if (s->table->buffer_write(dev, f.call, buf, 0, asked, sizeof(asked)) != PCTL_OK)
		fail_msg("\"%s\": %s", manifest,
			 pctl_diag_list_at(f.diags, pctl_diag_list_count(f.diags) - 1)->message);
	memset(got, 0xa5, sizeof(got));
	assert_int_equal(s->table->buffer_read(dev, f.call, buf, 0, got, sizeof(got)), PCTL_OK);
	for (uint32_t i = 0; i < NUMBERS; i++) {
		const int error = wanted(i, sets);

		if (asked[i] && (error ? got[i] != error : got[i] == EPERM))
			fail_msg("\"%s\": number %u gives %s, the table says %s", manifest, i,
				 got[i] ? strerrorname_np(got[i]) : "no error",
				 error ? strerrorname_np(error) : "that it is allowed");
		/* Numbers of another table are nobody's. */
		if (asked[NUMBERS + i] && got[NUMBERS + i] != EPERM)
			fail_msg("\"%s\": number %u of another table gives %u", manifest, i,
				 got[NUMBERS + i]);
		refused += asked[i] && error;
	}
	if (refused < least || refused > most)
		fail_msg("\"%s\": %u of %u numbers are refused", manifest, refused, NUMBERS);
	s->table->buffer_destroy(dev, buf);
	s->table->device_close(dev);
	pctl_backend_instance_close(s, f.call);
	fixture_end(&f);
}

static void confine__every_number_is_as_the_table_says(void **state)
{
	const uint32_t more = SANITIZED ? PCTL_CALLS_PROCESSES : 0;

	(void)state;
	numbers_of("", PCTL_CALLS_BASE | more, 350, 440);
	numbers_of("calls = [ \"driver\" ];", PCTL_CALLS_BASE | PCTL_CALLS_DRIVER | more, 270, 380);
	numbers_of("calls = [ \"processes\" ];", PCTL_CALLS_BASE | PCTL_CALLS_PROCESSES, 350, 440);
}

/* A kernel that lacks something says so in a warning, and a policy that wants all of it gets no plugin. */
static void warned(uint32_t without, const char *words)
{
	static const pctl_plugin_rules wanted = {.only_confined = 1, .confinement_by = "test"};
	pctl_backend_instance *s = NULL;
	uint32_t i, n = 0;
	fixture f;

	fixture_begin(&f);
	fixture_manifest(&f, "fake", FAKES "/fake.so", "");
	f.without = without;
	fixture_open(&f, 5000);
	for (i = 0; i < 2; i++) {
		assert_int_equal(pctl_backend_instance_open(f.r, "fake", NULL, 0, f.call, &s),
				 PCTL_OK);
		pctl_backend_instance_close(s, f.call);
	}
	for (i = 0; i < pctl_diag_list_count(f.diags); i++)
		if (pctl_diag_list_at(f.diags, i)->code == PC3036_PLUGIN_UNCONFINED &&
		    pctl_diag_list_at(f.diags, i)->severity == PCTL_SEVERITY_WARNING)
			n += !words || strstr(pctl_diag_list_at(f.diags, i)->message, words);
	if (n != (words ? 1 : 0))
		fail_msg("%u warnings, \"%s\"", n, words ? words : "none");
	if (words) {
		const char *dirs[] = {f.dir};
		const pctl_registry_options o = {.dirs = dirs,
						 .n_dirs = 1,
						 .flags = PCTL_REGISTRY_NO_DEFAULT_DIRS,
						 .home = f.home,
						 .worker = WORKER,
						 .rules = &wanted,
						 .without = without};

		pctl_registry_close(f.r);
		f.r = NULL;
		assert_int_equal(pctl_registry_open(&o, f.call, &f.r), PCTL_OK);
		assert_int_not_equal(pctl_backend_instance_open(f.r, "fake", NULL, 0, f.call, &s),
				     PCTL_OK);
		planted("a kernel that confines only in part", words, "PC3036",
			pctl_registry_unconfined(f.r, "fake"));
	}
	fixture_end(&f);
}

static void confine__what_the_kernel_lacks_is_told(void **state)
{
	(void)state;
	warned(0, NULL);
	warned(PCTL_CONFINE_LANDLOCK, "landlock");
	warned(PCTL_CONFINE_SECCOMP, "seccomp filters");
	warned(PCTL_CONFINE_SUPERVISOR, "ask a supervisor");
}

PCTL_TESTS_MAIN(PCTL_TEST(confine__each_kind_has_its_list),
		PCTL_TEST(confine__every_number_is_as_the_table_says),
		PCTL_TEST(confine__what_the_kernel_lacks_is_told))
