/* Tunables of plans: the table, which profile a device has, and records that are found by the files that a device runs on. */
#include "runtime/device/profiles.h"

#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "main.h"

static void test_tuning__table(void **state)
{
	(void)state;
	assert_true(PCTL_N_TUNABLES <= PCTL_TUNABLES_MAX);
	for (uint32_t i = 0; i < PCTL_N_TUNABLES; i++) {
		uint32_t n;
		const uint32_t *values = pctl_tunable_values(i, &n);

		assert_true(n >= 2 && pctl_tunable_about(i)[0] != '\0');
		/* It stands as a key in a record. */
		assert_true(strspn(pctl_tunable_name(i), "abcdefghijklmnopqrstuvwxyz_") ==
			    strlen(pctl_tunable_name(i)));
		for (uint32_t k = 0; k < n; k++) {
			assert_true(pctl_tunable_has(i, values[k]));
			for (uint32_t m = 0; m < k; m++)
				assert_int_not_equal(values[m], values[k]);
		}
		assert_true(pctl_tunable_has(i, 0) && !pctl_tunable_has(i, 3));
		/* Tight limits and wide ones differ, or there were no use of two. */
		assert_true(pctl_tunable_has(i, pctl_tunable_of(i, PCTL_TUNING_SC)));
		assert_int_equal(pctl_tunable_of(i, PCTL_TUNING_MC), 0);
		assert_int_not_equal(pctl_tunable_of(i, PCTL_TUNING_SC), 0);
	}
	assert_null(pctl_tunable_name(PCTL_N_TUNABLES));
}

static void test_tuning__profile_by_limits(void **state)
{
	pctl_device_caps caps = {.max_invocations = 256, .max_workgroup_bytes = 16384};

	(void)state;
	assert_int_equal(pctl_tuning_profile(&caps), PCTL_TUNING_MC);
	caps.max_invocations = 128;
	assert_int_equal(pctl_tuning_profile(&caps), PCTL_TUNING_SC);
	caps = (pctl_device_caps){.max_invocations = 1024, .max_workgroup_bytes = 8192};
	assert_int_equal(pctl_tuning_profile(&caps), PCTL_TUNING_SC);
}

/* Another file of the plugin, or of the driver (they are among its files), is another device. */
static void test_tuning__record_by_files(void **state)
{
	static const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_key_value identity[1] = {{"device", "a device"}};
	pctl_profiled_device d = {.identity = identity,
				  .n_identity = 1,
				  .name = "a device",
				  .device = "a device",
				  .driver = "driver",
				  .files = "plugin 1",
				  .drivers = "driver 1"};
	pctl_tuning_record *r = calloc(1, sizeof(*r)), *back = calloc(1, sizeof(*back));
	char dir[64] = "/tmp/pctl-tuning-XXXXXX", command[128];
	pctl_profiles_options o = {.home = dir};
	pctl_profiles *p;
	int found;

	(void)state;
	assert_non_null(r);
	assert_non_null(back);
	assert_non_null(mkdtemp(dir));
	assert_int_equal(pctl_profiles_open(&o, &quiet, &p), PCTL_OK);
	assert_int_equal(pctl_profiles_tuning(p, &d, &quiet, back, &found), PCTL_OK);
	assert_false(found);
	for (uint32_t i = 0; i < PCTL_N_TUNABLES; i++)
		r->value[i] = pctl_tunable_of(i, PCTL_TUNING_SC);
	r->profile = PCTL_TUNING_MC;
	r->ms = 77;
	assert_int_equal(pctl_profiles_keep_tuning(p, &d, r, &quiet), PCTL_OK);
	assert_int_equal(pctl_profiles_tuning(p, &d, &quiet, back, &found), PCTL_OK);
	assert_true(found && back->ms == 77 && back->profile == PCTL_TUNING_MC);
	assert_memory_equal(r->value, back->value, sizeof(r->value));
	d.files = "plugin 2";
	assert_int_equal(pctl_profiles_tuning(p, &d, &quiet, back, &found), PCTL_OK);
	assert_false(found);
	d.files = "plugin 1";
	assert_int_equal(pctl_profiles_tuning(p, &d, &quiet, back, &found), PCTL_OK);
	assert_true(found);
	pctl_profiles_close(p);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
	free(r);
	free(back);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_tuning__table), PCTL_TEST(test_tuning__profile_by_limits),
		PCTL_TEST(test_tuning__record_by_files))
