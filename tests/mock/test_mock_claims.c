/* Profiles that others made: taken after a short check, found out when a verdict is too good, not taken at all of another
 * driver. The devices are mocks that lose subnormals or fuse, so that there is something to claim wrongly. */
#include <stdlib.h>
#include <unistd.h>

#include "device_fixture.h"

#include "foundation/base/file.h"
#include "planted/planted.h"
#include "runtime/device/profiles.h"

#define IDENTITY 32u

static const char plugin_a[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
static const char plugin_b[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
static const char driver_a[] = "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc";
static const char driver_b[] = "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd";

/* A maker, who probed in full, and what lies in the certs of an installation that trusts him. */
typedef struct claims {
	device_fixture b;
	pctl_key_value identity[IDENTITY];
	pctl_profiled_device d;
	pctl_profile_record *made;
	pctl_profiles *maker;
	char certs[512], profiles[600];
	uint32_t n_homes;
} claims;

static pctl_profiles *home(claims *c, const char *certs)
{
	pctl_profiles_options o = {.certs = &certs, .n_certs = certs != NULL};
	pctl_profiles *p;
	char path[512];

	snprintf(path, sizeof(path), "%s/home-%u", c->b.f.home, c->n_homes++);
	o.home = path;
	assert_int_equal(pctl_profiles_open(&o, c->b.f.call, &p), PCTL_OK);
	return p;
}

static void publish(claims *c, pctl_profile_record *r)
{
	assert_int_equal(pctl_profiles_export(c->maker, r, c->profiles, c->b.f.call), PCTL_OK);
}

static void begin(claims *c, const char *selector)
{
	char keys[600], file[700], line[PCTL_PUBLIC_KEY_TEXT + 1];
	const char *key;

	memset(c, 0, sizeof(*c));
	device_open(&c->b, selector, 0);
	c->d = (pctl_profiled_device){.table = c->b.t,
				      .dev = c->b.dev,
				      .caps = &c->b.e->caps,
				      .identity = c->identity,
				      .name = "the mock",
				      .files = plugin_a,
				      .drivers = driver_a};
	assert_int_equal(c->b.t->device_identity(c->b.dev, c->b.f.call, IDENTITY, c->identity,
						 &c->d.n_identity),
			 PCTL_OK);
	c->made = calloc(1, sizeof(*c->made));
	assert_non_null(c->made);
	c->maker = home(c, NULL);
	assert_int_equal(pctl_profiles_obtain(c->maker, &c->d, 0, c->b.f.call, c->made), PCTL_OK);
	snprintf(c->certs, sizeof(c->certs), "%s/certs", c->b.f.home);
	snprintf(c->profiles, sizeof(c->profiles), "%s/profiles", c->certs);
	snprintf(keys, sizeof(keys), "%s/keys", c->certs);
	snprintf(file, sizeof(file), "%s/maker.pub", keys);
	assert_int_equal(pctl_file_make_dirs(keys, c->b.f.call), PCTL_OK);
	assert_int_equal(pctl_profiles_public_key(c->maker, c->b.f.call, &key), PCTL_OK);
	snprintf(line, sizeof(line), "%s\n", key);
	assert_int_equal(pctl_file_write(file, line, strlen(line), 0, c->b.f.call), PCTL_OK);
	publish(c, c->made);
}

static void end(claims *c)
{
	pctl_profiles_close(c->maker);
	free(c->made);
	device_close(&c->b);
}

/* What a fresh home makes of the device. Verdicts are always the right ones; 1: they are those of the claim. */
static int taken(claims *c, const char *files, const char *drivers, pctl_profiles *p)
{
	pctl_profile_record *got = calloc(1, sizeof(*got));
	char key[PCTL_CID_TEXT_SIZE];
	int was;

	assert_non_null(got);
	c->d.files = files;
	c->d.drivers = drivers;
	assert_int_equal(pctl_profiles_obtain(p, &c->d, 0, c->b.f.call, got), PCTL_OK);
	assert_memory_equal(&got->profile, &c->made->profile, sizeof(got->profile));
	assert_memory_equal(got->facts, c->made->facts, sizeof(got->facts));
	was = got->claim[0] != '\0';
	if (was)
		assert_string_equal(got->claim, pctl_cid_format(&c->made->key, key));
	assert_true(was ? got->cases < c->made->cases : got->cases == c->made->cases);
	free(got);
	return was;
}

static int fresh(claims *c, const char *files, const char *drivers)
{
	pctl_profiles *p = home(c, c->certs);
	const int was = taken(c, files, drivers, p);

	pctl_profiles_close(p);
	return was;
}

static void claims__are_taken_after_a_check(void **state)
{
	pctl_profiles *p;
	claims c;

	(void)state;
	begin(&c, "mock:wrap=cpu+flush");
	assert_true(fresh(&c, plugin_a, driver_a)); /* the very device, probed by somebody else */
	assert_true(fresh(&c, plugin_b, driver_a)); /* another build of the plugin */
	assert_false(has_code(&c.b.f, PC4333_PROFILE_CLAIM));
	/* Another file of the driver, or none that is known: in full. */
	assert_false(fresh(&c, plugin_b, driver_b));
	assert_false(fresh(&c, plugin_b, ""));
	/* A driver that says something else of itself. */
	c.identity[0].value[0] ^= 1;
	assert_false(fresh(&c, plugin_b, driver_a));
	c.identity[0].value[0] ^= 1;
	/* What was revoked here is no claim any more. */
	p = home(&c, c.certs);
	assert_int_equal(pctl_profiles_revoke(p, c.made, "a kernel differed", c.b.f.call), PCTL_OK);
	assert_false(taken(&c, plugin_b, driver_a, p));
	pctl_profiles_close(p);
	/* One that was itself taken after a check claims nothing. */
	strcpy(c.made->claim, "bafkreiaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	publish(&c, c.made);
	c.made->claim[0] = '\0';
	assert_false(fresh(&c, plugin_b, driver_a));
	end(&c);
}

/* A verdict or a fact that is better than the device: the check sees it, says which, and the device is probed. */
static void found_out(claims *c, uint8_t *row, uint8_t better, const char *name, const char *device)
{
	const uint8_t right = *row;
	char word[64];
	const pctl_diag *d = NULL;

	assert_true(right < better);
	*row = better;
	publish(c, c->made);
	*row = right;
	assert_false(fresh(c, plugin_b, driver_a));
	for (uint32_t i = 0; i < pctl_diag_list_count(c->b.f.diags); i++)
		if (pctl_diag_list_at(c->b.f.diags, i)->code == PC4333_PROFILE_CLAIM)
			d = pctl_diag_list_at(c->b.f.diags, i);
	assert_non_null(d);
	assert_int_equal(d->severity, PCTL_SEVERITY_WARNING);
	snprintf(word, sizeof(word), "%s is", name);
	if (!strstr(d->message, word))
		fail_msg("\"%s\" is not about %s", d->message, name);
	snprintf(word, sizeof(word), "a profile that calls %s better", name);
	planted(word, device, "PC4333", strstr(d->message, name));
}

static void claims__that_are_too_good_are_found_out(void **state)
{
	static const char flushes[] = "mock:wrap=cpu+flush", fuses[] = "mock:wrap=cpu+contract";
	claims c;

	(void)state;
	begin(&c, flushes);
	found_out(&c, &c.made->profile.native[PCTL_NATIVE_F32_ADD], PCTL_NATIVE_EXACT, "F32_ADD",
		  flushes);
	found_out(&c, &c.made->profile.native[PCTL_NATIVE_F64_MUL], PCTL_NATIVE_EXACT, "F64_MUL",
		  flushes);
	found_out(&c, &c.made->profile.native[PCTL_NATIVE_F64_FMA], PCTL_NATIVE_EXACT, "F64_FMA",
		  flushes);
	end(&c);
	/* Right alone, and wrong in company. */
	begin(&c, fuses);
	found_out(&c, &c.made->profile.native[PCTL_NATIVE_F32_MUL], PCTL_NATIVE_EXACT, "F32_MUL",
		  fuses);
	found_out(&c, &c.made->profile.native[PCTL_NATIVE_F64_ADD], PCTL_NATIVE_EXACT, "F64_ADD",
		  fuses);
	end(&c);
}

/* ---- limits ---- */

static void limits_of(claims *c, pctl_limits_record *out)
{
	pctl_profiles *p = home(c, c->certs);

	assert_int_equal(pctl_profiles_limits(p, &c->d, PCTL_PROFILES_KEPT, c->b.f.call, out),
			 PCTL_OK);
	assert_string_equal(out->path, "");
	assert_int_equal(pctl_profiles_limits(p, &c->d, 0, c->b.f.call, out), PCTL_OK);
	pctl_profiles_close(p);
}

/* What somebody else found is checked and taken without a search; where it is too good the device is searched. */
static void claims__of_limits_are_checked(void **state)
{
	static const char selector[] = "mock:wrap=cpu+turns=20000";
	pctl_limits_record *l = calloc(1, sizeof(*l)), *got = calloc(1, sizeof(*got));
	const pctl_diag *d;
	claims c;

	(void)state;
	assert_non_null(l);
	assert_non_null(got);
	begin(&c, selector);
	assert_int_equal(pctl_profiles_limits(c.maker, &c.d, 0, c.b.f.call, l), PCTL_OK);
	assert_int_equal(l->searched, 1);
	assert_in_range(l->limits.most[PCTL_EXTENT_TURNS], 10000, 20001);
	assert_int_equal(
		pctl_profiles_export_limits(c.maker, l, "the mock", c.profiles, c.b.f.call),
		PCTL_OK);
	limits_of(&c, got);
	assert_memory_equal(&got->limits, &l->limits, sizeof(l->limits));
	assert_false(has_code(&c.b.f, PC4333_PROFILE_CLAIM));
	l->limits.most[PCTL_EXTENT_TURNS] = 0;
	assert_int_equal(
		pctl_profiles_export_limits(c.maker, l, "the mock", c.profiles, c.b.f.call),
		PCTL_OK);
	limits_of(&c, got);
	assert_in_range(got->limits.most[PCTL_EXTENT_TURNS], 10000, 20001);
	assert_true(has_code(&c.b.f, PC4333_PROFILE_CLAIM));
	d = pctl_diag_list_at(c.b.f.diags, pctl_diag_list_count(c.b.f.diags) - 1);
	assert_int_equal(d->severity, PCTL_SEVERITY_WARNING);
	planted("limits that say nothing of turns", selector, "PC4333",
		strstr(d->message, "do not hold here"));
	end(&c);
	free(l);
	free(got);
}

PCTL_TESTS_MAIN(PCTL_TEST(claims__are_taken_after_a_check),
		PCTL_TEST(claims__that_are_too_good_are_found_out),
		PCTL_TEST(claims__of_limits_are_checked))
