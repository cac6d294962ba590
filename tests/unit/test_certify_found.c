/* Which level a certificate gives on a device: only for the very files that it names, each shown to take it away when it
 * is another one, though device and driver say the same of themselves. */
#include "test_certify_fake.h"

#include "evidence/certify/found.h"
#include "planted/planted.h"
#include "evidence/suite/suite.h"

#include <sys/stat.h>
#include <unistd.h>

#define SHA_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define SHA_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

/* An installation with one op library of one op and a library that it uses. */
static const char *library_sha[2] = {SHA_A, SHA_A};

static uint32_t ops_count(void *ctx)
{
	(void)ctx;
	return 2;
}

static void ops_at(void *ctx, uint32_t i, pctl_op_ref *out)
{
	static const char *const ids[2] = {"fake", "used"};

	(void)ctx;
	*out = (pctl_op_ref){.index = i, .plugin = ids[i], .digest = library_sha[i]};
}

static const pctl_op_source ops = {NULL, ops_count, ops_at};

typedef struct place {
	fake_world w;
	pctl_registry *registry;
	pctl_profiles *profiles;
	char home[96], certs[96];
	pctl_plugin_info backend;
	pctl_key_value identity[2];
	pctl_level_question q;
} place;

/* A certificate of the files "here" in the home, signed with the home's key. */
static void make_certificate(place *p)
{
	static const pctl_certificate_pair identity[] = {{"device", "Fake 1"}, {"driver", "7"}};
	static const pctl_certificate_pair libraries[] = {{"fake", SHA_A}, {"used", SHA_A}};
	pctl_certificate *c;
	char path[128];

	p->w.o.resume = pctl_dir_exists(p->w.journals) != 0; /* the same proof, signed again */
	c = fake_prove(&p->w);

	c->identity = identity;
	c->n_identity = 2;
	c->libraries = libraries;
	c->n_libraries = 2;
	c->backend = "fakes";
	c->backend_version = "1";
	c->backend_sha256 = SHA_A;
	c->driver_files = SHA_A;
	assert_int_equal(pctl_certificate_take_late(c,
						    "libz.so\t" SHA_A "\nliba.so\t" SHA_A
						    "\nlibz.so\t" SHA_A "\nlibgone.so\tgone\n",
						    &fake_quiet),
			 PCTL_OK);
	assert_int_equal(c->n_late, 2); /* each once, and none that cannot be known again */
	c->semantics = PCTL_SEMANTICS_VERSION;
	c->suite = PCTL_SUITE_VERSION;
	c->kit = PCTL_PROBE_KIT;
	c->profile = "bafkfake";
	assert_int_equal(pctl_registry_host(p->registry, &fake_quiet, &c->host), PCTL_OK);
	snprintf(path, sizeof(path), "%s/c.cfg", p->certs);
	assert_int_equal(pctl_certificate_write(c, path, p->w.signer, &fake_quiet), PCTL_OK);
	pctl_certificate_destroy(c);
}

static void begin(place *p)
{
	memset(p, 0, sizeof(*p));
	library_sha[0] = library_sha[1] = SHA_A;
	fake_begin(&p->w);
	const pctl_registry_options r = {.home = p->w.dir,
					 .worker = "/proc/self/exe",
					 .flags = PCTL_REGISTRY_NO_DEFAULT_DIRS};
	const pctl_profiles_options profiles = {.home = p->w.dir};

	snprintf(p->home, sizeof(p->home), "%s", p->w.dir);
	snprintf(p->certs, sizeof(p->certs), "%s/certificates", p->w.dir);
	assert_int_equal(pctl_file_make_dirs(p->certs, &fake_quiet), PCTL_OK);
	assert_int_equal(pctl_registry_open(&r, &fake_quiet, &p->registry), PCTL_OK);
	assert_int_equal(pctl_profiles_open(&profiles, &fake_quiet, &p->profiles), PCTL_OK);
	p->backend = (pctl_plugin_info){.id = "fakes", .version = "1", .sha256 = SHA_A};
	strcpy(p->identity[0].key, "device");
	strcpy(p->identity[0].value, "Fake 1");
	strcpy(p->identity[1].key, "driver");
	strcpy(p->identity[1].value, "7");
	p->q = (pctl_level_question){.op = "fake.add@1",
				     .library = "fake",
				     .ops = &ops,
				     .backend = &p->backend,
				     .files = SHA_A,
				     .identity = p->identity,
				     .n_identity = 2,
				     .track = PCTL_TRACK_INTEGER,
				     .wanted = 4};
	make_certificate(p);
}

static void end(place *p)
{
	pctl_profiles_close(p->profiles);
	pctl_registry_close(p->registry);
	fake_end(&p->w);
}

static pctl_level_answer ask(place *p, char hint[600])
{
	const char *dirs[] = {p->certs};
	const pctl_found_options o = {.profiles = p->profiles,
				      .registry = p->registry,
				      .ops = &ops,
				      .home = p->home,
				      .dirs = dirs,
				      .n_dirs = 1};
	pctl_level_answer a;
	pctl_found *f;

	assert_int_equal(pctl_found_open(&o, &fake_quiet, &f), PCTL_OK);
	assert_int_equal(f->n, 1);
	pctl_found_level(f, &p->q, &a);
	snprintf(hint, 600, "%s", a.hint == NULL ? "" : a.hint);
	pctl_found_close(f);
	return a;
}

/* Nothing is held any more; claimed: a trusted certificate still says it, of other files. */
static void gone(place *p, const char *fault, uint32_t claimed, const char *word)
{
	char hint[600], told[700];
	const pctl_level_answer a = ask(p, hint);

	assert_int_equal(a.level, 0);
	assert_int_equal(a.claimed, claimed);
	assert_true((hint[0] != '\0') == (claimed >= p->q.wanted));
	if (claimed != 0 && (strstr(hint, word) == NULL || strstr(hint, "certify confirm") == NULL))
		fail_msg("%s: \"%s\"", fault, hint);
	snprintf(told, sizeof(told), "%s",
		 hint[0] == '\0' ? "no level and no claim" : strstr(hint, "claims"));
	planted(fault, "a certificate of L4", "certificate: level gone", told);
}

static void test_certify_found__only_these_files(void **state)
{
	char hint[600];
	place p;

	(void)state;
	begin(&p);
	assert_int_equal(ask(&p, hint).level, 4);
	assert_int_equal(ask(&p, hint).claimed, 0);
	assert_string_equal(hint, "");
	p.backend.sha256 = SHA_B;
	gone(&p, "the backend's file is another one", 4, "another file of backend \"fakes\"");
	p.backend.sha256 = NULL;
	gone(&p, "the backend's file was never hashed", 4, "another file of backend \"fakes\"");
	p.backend.sha256 = SHA_A;
	p.backend.id = "fakers";
	gone(&p, "another plugin with the same file and facts", 0, "");
	p.backend.id = "fakes";
	p.backend.roles = PCTL_ROLE_SYNTHETIC;
	gone(&p, "a backend that goes wrong on purpose", 0, "");
	p.backend.roles = 0;
	p.q.backend = NULL;
	gone(&p, "a table of no plugin", 0, "");
	p.q.backend = &p.backend;
	p.q.files = SHA_B;
	gone(&p, "a library of the driver is another file", 4, "another driver library");
	p.q.files = NULL;
	gone(&p, "the driver's libraries are not known", 4, "another driver library");
	p.q.files = SHA_A;
	p.q.late = "liba.so\t" SHA_A "\n";
	assert_int_equal(ask(&p, hint).level, 4);
	p.q.late = "liba.so\t" SHA_A "\nlibc.so\t" SHA_A "\n";
	gone(&p, "the driver mapped a library late that was not proved", 4, "made without libc.so");
	p.q.late = "liba.so\t" SHA_B "\n";
	gone(&p, "a library mapped late is another file", 4, "made without liba.so");
	p.q.late = "libgone.so\tgone\n";
	gone(&p, "a library mapped late is gone from the disk", 4, "made without libgone.so");
	p.q.late = "mappings that cannot be read\t\n";
	gone(&p, "what is mapped cannot be read", 4, "made without mappings");
	p.q.late = NULL;
	library_sha[0] = SHA_B;
	gone(&p, "the op's library is another file", 4, "another file of op library \"fake\"");
	library_sha[0] = NULL;
	gone(&p, "the op's library was never hashed", 4, "another file of op library \"fake\"");
	library_sha[0] = SHA_A;
	library_sha[1] = SHA_B;
	gone(&p, "a library that the op may use is another file", 4, "op library \"used\"");
	library_sha[1] = SHA_A;
	p.q.library = "other";
	gone(&p, "the op comes from a library that was not proved", 0, "");
	p.q.library = "fake";
	strcpy(p.identity[1].value, "8");
	gone(&p, "the driver is another one", 0, "");
	strcpy(p.identity[1].value, "7");
	assert_int_equal(ask(&p, hint).level, 4);
	p.q.track = PCTL_TRACK_FLOAT;
	assert_int_equal(ask(&p, hint).level, 0);
	end(&p);
}

/* Who signed, which kit, and whether the profile still stands. */
static void test_certify_found__who_says_so(void **state)
{
	char hint[600], path[160];
	place p;

	(void)state;
	begin(&p);
	snprintf(path, sizeof(path), "%s/profiles", p.home);
	assert_int_equal(pctl_file_make_dirs(path, &fake_quiet), PCTL_OK);
	snprintf(path, sizeof(path), "%s/profiles/bafkfake.revoked", p.home);
	assert_int_equal(pctl_file_write(path, "x", 1, 0, &fake_quiet), PCTL_OK);
	gone(&p, "the device's profile is revoked", 0, "");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(ask(&p, hint).level, 4);
	/* Another home's key: no directory of trusted keys has it. */
	pctl_signer_close(p.w.signer);
	snprintf(path, sizeof(path), "%s/elsewhere", p.home);
	assert_int_equal(pctl_signer_open(path, &fake_quiet, &p.w.signer), PCTL_OK);
	make_certificate(&p);
	gone(&p, "signed with a key that nobody trusts", 0, "");
	end(&p);
}

/* Another host program: what it legalises and compares is its own. */
static void test_certify_found__another_host(void **state)
{
	char worker[160];
	place p;

	(void)state;
	begin(&p);
	pctl_registry_close(p.registry);
	snprintf(worker, sizeof(worker), "%s/worker", p.home);
	assert_int_equal(pctl_file_write(worker, "x", 1, 0, &fake_quiet), PCTL_OK);
	assert_int_equal(chmod(worker, 0700), 0);
	const pctl_registry_options r = {
		.home = p.home, .worker = worker, .flags = PCTL_REGISTRY_NO_DEFAULT_DIRS};

	assert_int_equal(pctl_registry_open(&r, &fake_quiet, &p.registry), PCTL_OK);
	gone(&p, "the worker is another program", 4, "another pipectl or worker");
	end(&p);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_certify_found__only_these_files),
		PCTL_TEST(test_certify_found__who_says_so),
		PCTL_TEST(test_certify_found__another_host))
