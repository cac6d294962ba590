/* Scripts: what is read, what is refused and where; and what the host makes of a device that has one. */
#include "device_fixture.h"

static void script__what_it_does_not_know_is_refused_with_its_place(void **state)
{
	static const struct {
		const char *script;
		uint32_t at;
	} bad[] = {
		{"wrap=cpu+flipbit@x", 10},
		{"flip-bit", 9},
		{"flip-bit@", 10},
		{"flip-bit@0", 10},
		{"flip-bit@x/y", 12},
		{"flip-bit@x/3.0", 14},
		{"flip-bit@x/99999999999", 12},
		{"flip-bit@x:bit=32", 12},
		{"flip-bit@x:elem=3", 12},
		{"flip-bit@x:binding=3", 12},
		{"flip-bit@x:repeat=0", 12},
		{"late-flip-bit@x", 1},
		{"late-crash", 1},
		{"lane=0", 6},
		{"flush=3", 6},
		{"zero,,racy", 6},
		{"zero+", 6},
		{"wrap=cpu:", 0},
		{"wrap=+zero", 6},
		{"slow=10ms", 8},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const pctl_device_entry *e;
		char selector[96], place[32];
		pctl_devices *list;
		const pctl_diag *d;
		pctl_status s;
		device_fixture b;

		device_begin(&b);
		snprintf(selector, sizeof(selector), "mock:%s", bad[i].script);
		s = pctl_devices_find(b.f.r, selector, 0, b.f.call, &list, &e);
		if (bad[i].at == 0) {
			/* An empty device is the first one. */
			assert_int_equal(s, PCTL_OK);
			pctl_devices_destroy(list);
			device_end(&b);
			continue;
		}
		/* What the host resolves before the mock reads it has its own refusal. */
		if (strncmp(bad[i].script, "wrap=+", 6) == 0) {
			assert_int_not_equal(s, PCTL_OK);
			assert_null(list);
			device_end(&b);
			continue;
		}
		assert_int_equal(s, PCTL_E_USAGE);
		d = pctl_diag_list_at(b.f.diags, pctl_diag_list_count(b.f.diags) - 1);
		assert_int_equal(d->code, PC3280_MOCK_SCRIPT);
		snprintf(place, sizeof(place), "character %u of", bad[i].at);
		if (!strstr(d->message, place) || d->pos.column != bad[i].at)
			fail_msg("%s: %s", selector, d->message);
		assert_non_null(strstr(d->hint, "late-"));
		device_end(&b);
	}
}

static void script__a_device_is_named_after_its_script(void **state)
{
	pctl_key_value facts[16];
	char key[64];
	uint32_t n, i;
	device_fixture b;

	(void)state;
	device_open(&b, "mock:wrap=cpu,flip-bit@step/3:element=17", 0);
	assert_string_equal(b.e->selector, "mock:wrap=cpu+flip-bit@step/3:element=17");
	assert_string_equal(b.e->env->script, "wrap=cpu+flip-bit@step/3:element=17");
	assert_string_equal(b.e->name, "mock of pipectl lockstep interpreter");
	assert_int_equal(b.e->kind, PCTL_DEVICE_CPU);
	assert_true(b.e->caps.caps & PCTL_CAP_NATIVE_FLOAT);
	assert_false(b.e->caps.caps & PCTL_CAP_STRICT_FLOAT);
	assert_int_equal(b.t->device_identity(b.dev, &b.call, 16, facts, &n), PCTL_OK);
	for (i = 0; i < n && strcmp(facts[i].key, "mock") != 0;)
		i++;
	assert_true(i < n);
	assert_string_equal(facts[i].value, b.e->env->script);
	for (i = 0; i < n && strcmp(facts[i].key, "semantics") != 0;)
		i++;
	assert_true(i < n);
	snprintf(key, sizeof(key), "%s", b.e->env->key);
	device_drop(&b);
	/* Another script, another key: verdicts are not shared. The same, however written, shares it. */
	device_device(&b, "mock:wrap=cpu+flip-bit@step/3:element=18", 0);
	assert_string_not_equal(key, b.e->env->key);
	device_drop(&b);
	device_device(&b, "mock:wrap=cpu+flip-bit@step/3:element=17", 0);
	assert_string_equal(key, b.e->env->key);
	device_close(&b);
}

static void script__a_mock_is_listed_only_when_named(void **state)
{
	pctl_devices *list;
	device_fixture b;

	(void)state;
	device_begin(&b);
	assert_int_equal(pctl_devices_list(b.f.r, NULL, 0, b.f.call, &list), PCTL_OK);
	assert_int_equal(pctl_devices_count(list), 2);
	for (uint32_t i = 0; i < pctl_devices_count(list); i++)
		assert_string_not_equal(pctl_devices_at(list, i)->backend, "mock");
	pctl_devices_destroy(list);
	assert_int_equal(pctl_devices_list(b.f.r, "mock", 0, b.f.call, &list), PCTL_OK);
	assert_int_equal(pctl_devices_count(list), 1);
	assert_int_equal(pctl_devices_at(list, 0)->kind, PCTL_DEVICE_OTHER);
	pctl_devices_destroy(list);
	assert_int_equal(pctl_registry_find(b.f.r, "mock")->state, PCTL_PLUGIN_USABLE);
	device_end(&b);
}

static void refused(const char *selector, uint32_t flags, uint32_t code)
{
	const pctl_device_entry *e;
	pctl_devices *list;
	device_fixture b;

	device_begin(&b);
	assert_int_not_equal(pctl_devices_find(b.f.r, selector, flags, b.f.call, &list, &e),
			     PCTL_OK);
	assert_null(list);
	if (!has_code(&b.f, code))
		fail_msg("%s is refused without PC%u", selector, code);
	device_end(&b);
}

static void script__only_what_can_be_wrapped_is(void **state)
{
	(void)state;
	refused("mock:wrap=mock", 0, PC3281_MOCK_WRAP);
	refused("mock:wrap=nobody", 0, PC3230_BACKEND_UNKNOWN);
	refused("mock:wrap=cpu:7", 0, PC3231_DEVICE_UNKNOWN);
	/* null's manifest of this test does not allow the host's process. */
	refused("mock:wrap=null", PCTL_DEVICES_IN_PROCESS, PC3029_PLUGIN_ISOLATION);
}

static void script__manifests_say_who_takes_one(void **state)
{
	const pctl_device_entry *e;
	pctl_devices *list;
	device_fixture b;

	(void)state;
	device_begin(&b);
	fixture_manifest(&b.f, "cpu", PIPECTL_BINARY_DIR "/plugins/cpu.so", "selects = \"magic\";");
	fixture_manifest(&b.f, "mock", PIPECTL_BINARY_DIR "/plugins/mock.so",
			 "selects = \"script\";");
	fixture_open(&b.f, 20000);
	assert_int_equal(pctl_registry_find(b.f.r, "cpu")->code, PC1023_CONF_WORD);
	assert_int_equal(pctl_devices_find(b.f.r, "mock:wrap=null", 0, b.f.call, &list, &e),
			 PCTL_E_UNSUPPORTED);
	assert_true(has_code(&b.f, PC3281_MOCK_WRAP));
	device_end(&b);
}

PCTL_TESTS_MAIN(PCTL_TEST(script__what_it_does_not_know_is_refused_with_its_place),
		PCTL_TEST(script__a_device_is_named_after_its_script),
		PCTL_TEST(script__a_mock_is_listed_only_when_named),
		PCTL_TEST(script__only_what_can_be_wrapped_is),
		PCTL_TEST(script__manifests_say_who_takes_one))
