/* Profile records: written and read back, stale and strange ones passed over, revoked ones refused. */
#include "runtime/device/profiles.h"

#include <stdlib.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/diag/diag.h"
#include "main.h"

static const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};

static pctl_profile_record *sample(const char *driver_version)
{
	pctl_profile_record *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	strcpy(r->identity[0].key, "device");
	strcpy(r->identity[0].value, "a \"quoted\\ device\"");
	strcpy(r->identity[1].key, "driver-version");
	strcpy(r->identity[1].value, driver_version);
	r->n_identity = 2;
	strcpy(r->device, "a \"quoted\\ device\"");
	strcpy(r->driver, "driver");
	for (uint32_t i = 0; i < PCTL_N_NATIVE; i++)
		r->profile.native[i] = (uint8_t)(i % 4);
	for (uint32_t i = 0; i < PCTL_N_FACTS; i++)
		r->facts[i] = PCTL_NATIVE_EXACT;
	strcpy(r->native_witness[1].text, "x / y: x=0x1 gave 0x0, not 0x2");
	r->cases = 12345;
	assert_int_equal(pctl_profile_key(r, &quiet), PCTL_OK);
	return r;
}

static void open_in(char dir[64], pctl_signer **out)
{
	strcpy(dir, "/tmp/pctl-profile-XXXXXX");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(pctl_signer_open(dir, &quiet, out), PCTL_OK);
}

static void remove_all(const char *dir)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

static void test_profile__round_trip(void **state)
{
	pctl_profile_record *r = sample("1"), *back = calloc(1, sizeof(*back));
	char dir[64];
	pctl_signer *s;

	(void)state;
	open_in(dir, &s);
	assert_int_equal(pctl_profile_write(r, dir, s, &quiet), PCTL_OK);
	assert_int_equal(pctl_profile_read(r->path, &quiet, back), PCTL_OK);
	assert_memory_equal(&r->profile, &back->profile, sizeof(r->profile));
	assert_memory_equal(r->facts, back->facts, sizeof(r->facts));
	assert_memory_equal(&r->key, &back->key, sizeof(r->key));
	assert_string_equal(back->device, "a \"quoted\\ device\"");
	assert_int_equal(back->n_identity, 2);
	assert_string_equal(back->identity[0].value, r->identity[0].value);
	assert_string_equal(back->signer, pctl_signer_public(s));
	assert_true(back->cases == 12345);
	pctl_signer_close(s);
	remove_all(dir);
	free(r);
	free(back);
}

static void test_profile__found_by_key_and_trusted_signer_only(void **state)
{
	pctl_profile_record *r = sample("1"), *want = sample("1"), *newer = sample("2");
	const char *dirs[1],
		*trusted[1] = {"0000000000000000000000000000000000000000000000000000000000000000"};
	char dir[64];
	pctl_signer *s;

	(void)state;
	open_in(dir, &s);
	dirs[0] = dir;
	assert_int_equal(pctl_profile_write(r, dir, s, &quiet), PCTL_OK);
	memset(&want->profile, 0, sizeof(want->profile));
	assert_int_equal(pctl_profile_find(want, dirs, 1, trusted, 1, &quiet), 0);
	trusted[0] = pctl_signer_public(s);
	assert_int_equal(pctl_profile_find(want, dirs, 1, trusted, 1, &quiet), 1);
	assert_memory_equal(&want->profile, &r->profile, sizeof(r->profile));
	/* Another driver version is another device. */
	assert_int_equal(pctl_profile_find(newer, dirs, 1, trusted, 1, &quiet), 0);
	pctl_signer_close(s);
	remove_all(dir);
	free(r);
	free(want);
	free(newer);
}

static void replace(const char *path, const char *from, const char *to, const pctl_signer *s)
{
	pctl_str_buf t = PCTL_STR_BUF_INIT;
	char key[PCTL_PUBLIC_KEY_TEXT], *text, *at;
	size_t n_signed;
	uint64_t n;

	assert_int_equal(pctl_file_read(path, 1 << 20, &quiet, &text, &n), PCTL_OK);
	assert_int_equal(pctl_sealed_check(path, text, n, &quiet, &n_signed, key), PCTL_OK);
	text[n_signed] = '\0';
	at = strstr(text, from);
	assert_non_null(at);
	pctl_str_add_n(&t, text, (size_t)(at - text));
	pctl_str_add(&t, to);
	pctl_str_add(&t, at + strlen(from));
	assert_int_equal(pctl_signer_seal(s, &t, &quiet), PCTL_OK);
	assert_int_equal(pctl_file_write(path, t.data, t.n, 0, &quiet), PCTL_OK);
	pctl_str_drop(&t);
	free(text);
}

/* One of another kit, one that is damaged: the device is looked at again, and why is told. */
static void test_profile__what_is_passed_over_is_told(void **state)
{
	pctl_profile_record *r = sample("1"), *want = sample("1");
	char dir[64];
	const char *dirs[] = {dir}, *trusted[1];
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_diag *d;
	pctl_signer *s;
	FILE *f;

	(void)state;
	open_in(dir, &s);
	trusted[0] = pctl_signer_public(s);
	assert_int_equal(pctl_profile_write(r, dir, s, &quiet), PCTL_OK);
	replace(r->path, "kit = \"", "kit = \"x", s);
	assert_false(pctl_profile_find(want, dirs, 1, trusted, 1, pctl_diag_list_call(l)));
	assert_int_equal(pctl_diag_list_count(l), 1);
	d = pctl_diag_list_at(l, 0);
	assert_int_equal(d->code, PC4330_PROFILE);
	assert_int_equal(d->severity, PCTL_SEVERITY_WARNING);
	assert_non_null(strstr(d->message, "`profile.kit` is \"x"));
	f = fopen(r->path, "a");
	assert_non_null(f);
	fputs("more\n", f);
	assert_int_equal(fclose(f), 0);
	assert_false(pctl_profile_find(want, dirs, 1, trusted, 1, pctl_diag_list_call(l)));
	assert_int_equal(pctl_diag_list_count(l), 2);
	assert_int_equal(pctl_diag_list_at(l, 1)->code, PC5012_CAS_SIGNATURE);
	assert_false(pctl_profile_find(want, dirs, 1, trusted, 1, NULL));
	pctl_diag_list_destroy(l);
	pctl_signer_close(s);
	remove_all(dir);
	free(r);
	free(want);
}

/* Well signed, and still no profile of this kit. */
static void test_profile__other_kits_and_verdicts_are_refused(void **state)
{
	static const char *const changes[][2] = {
		{PCTL_PROBE_KIT, "probe-0"},
		{"F32_ADD = \"absent\"", "F32_ADD = \"perfect\""},
		{"F32_ADD = ", "F32_PLUS = "},
		{"key = \"bafkrei", "key = \"cafkrei"},
	};
	pctl_profile_record *back = calloc(1, sizeof(*back));

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		pctl_profile_record *r = sample("1");
		char dir[64];
		pctl_signer *s;

		open_in(dir, &s);
		assert_int_equal(pctl_profile_write(r, dir, s, &quiet), PCTL_OK);
		replace(r->path, changes[i][0], changes[i][1], s);
		assert_int_equal(pctl_profile_read(r->path, &quiet, back), PCTL_E_INVALID);
		pctl_signer_close(s);
		remove_all(dir);
		free(r);
	}
	free(back);
}

static void test_profile__revoked_is_refused_with_its_cause(void **state)
{
	pctl_profile_record *r = sample("1"), *out = calloc(1, sizeof(*out));
	pctl_profiled_device d = {
		.identity = r->identity, .n_identity = 2, .name = "x:0", .device = r->device};
	char dir[64] = "/tmp/pctl-profile-XXXXXX";
	pctl_profiles_options o = {.home = dir};
	pctl_profiles *p;
	const char *key;
	char path[128];
	pctl_signer *s;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(pctl_profiles_open(&o, &quiet, &p), PCTL_OK);
	assert_int_equal(pctl_profiles_public_key(p, &quiet, &key), PCTL_OK);
	snprintf(path, sizeof(path), "%s/keys", dir);
	assert_int_equal(pctl_signer_open(path, &quiet, &s), PCTL_OK);
	assert_string_equal(key, pctl_signer_public(s));
	snprintf(path, sizeof(path), "%s/profiles", dir);
	assert_int_equal(pctl_profile_write(r, path, s, &quiet), PCTL_OK);
	assert_int_equal(pctl_profiles_obtain(p, &d, 0, &quiet, out), PCTL_OK);
	assert_memory_equal(&out->profile, &r->profile, sizeof(r->profile));
	assert_false(pctl_profiles_was_checked(p, out, &r->key));
	pctl_profiles_note_checked(p, out, &r->key);
	assert_true(pctl_profiles_was_checked(p, out, &r->key));
	assert_int_equal(pctl_profiles_revoke(p, out, "kernel k differs", &quiet), PCTL_OK);
	assert_int_equal(pctl_profiles_obtain(p, &d, 0, &quiet, out), PCTL_E_UNSUPPORTED);
	pctl_signer_close(s);
	pctl_profiles_close(p);
	remove_all(dir);
	free(r);
	free(out);
}

/* Device and driver say the same of themselves, but a library of the driver is another file. */
static void test_profile__is_of_its_files(void **state)
{
	pctl_profile_record *r = sample("1"), *other = sample("1");
	char dir[64] = "/tmp/pctl-profile-XXXXXX";
	const char *dirs[] = {dir}, *trusted[1];
	pctl_signer *s;

	(void)state;
	open_in(dir, &s);
	trusted[0] = pctl_signer_public(s);
	memset(r->files, 'a', 64);
	assert_int_equal(pctl_profile_key(r, &quiet), PCTL_OK);
	assert_int_equal(pctl_profile_write(r, dir, s, &quiet), PCTL_OK);
	memset(other->files, 'b', 64);
	assert_false(pctl_profile_find(other, dirs, 1, trusted, 1, &quiet));
	other->files[0] = '\0';
	assert_false(pctl_profile_find(other, dirs, 1, trusted, 1, &quiet));
	memset(other->files, 'a', 64);
	assert_true(pctl_profile_find(other, dirs, 1, trusted, 1, &quiet));
	assert_string_equal(other->files, r->files);
	pctl_signer_close(s);
	remove_all(dir);
	free(r);
	free(other);
}

/* The record of limits beside the profile: written and read back, stale, strange and unsigned ones refused. */
static void test_profile__limits_are_kept_beside_it(void **state)
{
	static const char *const changes[][2] = {{PCTL_LIMITS_KIT, "limits-0"},
						 {"turns = \"65536 slow\"", "turns = \"many\""},
						 {"turns = ", "rounds = "},
						 {"searched = \"yes\"", "searched = \"maybe\""}};
	pctl_profile_record *r = sample("1");
	pctl_limits_record *l = calloc(1, sizeof(*l)), *back = calloc(1, sizeof(*back));
	const char *dirs[1], *trusted[1];
	char dir[64];
	pctl_signer *s;

	(void)state;
	open_in(dir, &s);
	dirs[0] = dir;
	trusted[0] = pctl_signer_public(s);
	l->key = r->key;
	l->searched = 1;
	l->limits.most[PCTL_EXTENT_TURNS] = 65536;
	l->limits.most[PCTL_EXTENT_NESTING] = 72;
	l->slow = 1u << PCTL_EXTENT_TURNS;
	assert_int_equal(pctl_limits_write(l, "a \"quoted\\ device\"", dir, s, &quiet), PCTL_OK);
	back->key = r->key;
	assert_int_equal(pctl_limits_find(back, dirs, 1, trusted, 0, &quiet), 0);
	assert_int_equal(pctl_limits_find(back, dirs, 1, trusted, 1, &quiet), 1);
	assert_memory_equal(&back->limits, &l->limits, sizeof(l->limits));
	assert_int_equal(back->slow, l->slow);
	assert_int_equal(back->searched, 1);
	/* Of another device, under this one's name. */
	back->key.digest[0] ^= 1;
	assert_int_equal(pctl_limits_find(back, dirs, 1, trusted, 1, &quiet), 0);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		assert_int_equal(pctl_limits_write(l, "d", dir, s, &quiet), PCTL_OK);
		replace(l->path, changes[i][0], changes[i][1], s);
		assert_int_equal(pctl_limits_read(l->path, &quiet, back), PCTL_E_INVALID);
	}
	pctl_signer_close(s);
	remove_all(dir);
	free(r);
	free(l);
	free(back);
}

/* Verdicts on a device's own operations are its home's alone, whole and of this kit; what cannot be used is told, and the device
 * is asked again. */
static void test_profile__own_operations_are_what_this_home_saw(void **state)
{
	pctl_optional_record *r = calloc(1, sizeof(*r)), *want = calloc(1, sizeof(*want));
	static const char another[] =
		"0000000000000000000000000000000000000000000000000000000000000000";
	pctl_diag_list *l = pctl_diag_list_create();
	char dir[64];
	pctl_signer *s;

	(void)state;
	assert_non_null(r);
	assert_non_null(want);
	open_in(dir, &s);
	r->verdict[PCTL_OPTIONAL_DOT4] = PCTL_OPTIONAL_EXACT;
	assert_int_equal(pctl_optional_write(r, dir, s, &quiet), PCTL_OK);
	assert_false(pctl_optional_find(want, dir, another, pctl_diag_list_call(l)));
	assert_int_equal(want->verdict[PCTL_OPTIONAL_DOT4], PCTL_OPTIONAL_UNASKED);
	assert_true(pctl_optional_find(want, dir, pctl_signer_public(s), pctl_diag_list_call(l)));
	assert_int_equal(want->verdict[PCTL_OPTIONAL_DOT4], PCTL_OPTIONAL_EXACT);
	assert_int_equal(pctl_diag_list_count(l), 0);
	replace(r->path, "DOT4 = \"exact\"", "DOT4 = \"surely\"", s);
	assert_false(pctl_optional_find(want, dir, pctl_signer_public(s), pctl_diag_list_call(l)));
	replace(r->path, "kit = \"", "kit = \"x", s);
	assert_false(pctl_optional_find(want, dir, pctl_signer_public(s), pctl_diag_list_call(l)));
	assert_int_equal(pctl_diag_list_count(l), 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(pctl_diag_list_at(l, i)->code, PC4330_PROFILE);
		assert_int_equal(pctl_diag_list_at(l, i)->severity, PCTL_SEVERITY_WARNING);
	}
	pctl_diag_list_destroy(l);
	pctl_signer_close(s);
	remove_all(dir);
	free(r);
	free(want);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_profile__what_is_passed_over_is_told),
		PCTL_TEST(test_profile__limits_are_kept_beside_it),
		PCTL_TEST(test_profile__own_operations_are_what_this_home_saw),
		PCTL_TEST(test_profile__round_trip), PCTL_TEST(test_profile__is_of_its_files),
		PCTL_TEST(test_profile__found_by_key_and_trusted_signer_only),
		PCTL_TEST(test_profile__other_kits_and_verdicts_are_refused),
		PCTL_TEST(test_profile__revoked_is_refused_with_its_cause))
