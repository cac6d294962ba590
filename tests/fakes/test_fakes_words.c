/* What a backend says of its devices and of itself: capabilities that cannot be, names that are no text, words in another's
 * name, silence. In a worker and inside the host alike. */
#include "setup.h"

#include "../planted/planted.h"
#include "runtime/ipc/words.h"
#include "runtime/plugin/guard.h"

static const uint32_t modes[2] = {0, PCTL_INSTANCE_IN_PROCESS};
static const char *const where[2] = {"worker", "in-process"};

typedef struct opened {
	fixture f;
	pctl_backend_instance *s;
	const pctl_backend *t;
} opened;

static void open_fake(opened *o, const char *library, uint32_t flags)
{
	char path[256];

	fixture_begin(&o->f);
	snprintf(path, sizeof(path), "%s/%s.so", FAKES, library);
	fixture_manifest(&o->f, "fake", path, "in_process = true;");
	fixture_open(&o->f, 5000);
	assert_int_equal(pctl_backend_instance_open(o->f.r, "fake", NULL, flags, o->f.call, &o->s),
			 PCTL_OK);
	o->t = o->s->table;
}

static void close_fake(opened *o)
{
	pctl_backend_instance_close(o->s, o->f.call);
	fixture_end(&o->f);
}

/* The diagnostic of this code that has this text. */
static const pctl_diag *said(const opened *o, uint32_t code, const char *text)
{
	for (uint32_t i = 0; i < pctl_diag_list_count(o->f.diags); i++) {
		const pctl_diag *d = pctl_diag_list_at(o->f.diags, i);

		if (d->code == code && strstr(d->message, text) != NULL)
			return d;
	}
	fail_msg("nobody said PC%04u with \"%s\"", code, text);
	return NULL;
}

static void fakes_words__capabilities_that_cannot_be(void **state)
{
	static const char *const texts[] = {
		"unknown bits 0x10000000000", "binding_alignment of a device is 48",
		"max_groups[1] of a device is 0, allowed is 1 to",
		"max_local[2] of a device is 2097152, allowed is 1 to 1048576"};
	pctl_device *dev;
	opened o;

	(void)state;
	for (int mode = 0; mode < 2; mode++) {
		open_fake(&o, "wild_caps", modes[mode]);
		assert_int_equal(o.t->device_open(o.s->inst, o.f.call, 0, &dev), PCTL_E_PLUGIN);
		assert_null(dev);
		for (size_t i = 0; i < 4; i++)
			planted("capabilities that no device has", where[mode],
				"PC3233 device-caps",
				said(&o, PC3233_DEVICE_CAPS, texts[i])->message);
		assert_non_null(
			strstr(said(&o, PC3233_DEVICE_CAPS, "bits")->message, "plugin \"fake\""));
		close_fake(&o);
	}
}

static void fakes_words__every_capability_has_its_bounds(void **state)
{
	const pctl_device_caps good = {.head = PCTL_HEAD(pctl_device_caps),
				       .caps = PCTL_CAP_KNOWN,
				       .max_binding_bytes = 4,
				       .max_buffer_bytes = 1ull << 50,
				       .binding_alignment = 1u << 16,
				       .max_groups = {1, UINT64_MAX, 65535},
				       .max_local = {1, 1u << 20, 64},
				       .max_invocations = 1u << 20,
				       .max_workgroup_bytes = 0,
				       .max_bindings = 1};
	pctl_device_caps bad[16];
	size_t n = 0;

	(void)state;
	assert_int_equal(pctl_guard_check_caps("x", &good, NULL), PCTL_OK);
	for (size_t i = 0; i < 16; i++)
		bad[i] = good;
	bad[n++].caps = PCTL_CAP_KNOWN + 1;
	bad[n++].memory_bytes = UINT64_MAX;
	bad[n++].max_binding_bytes = 0;
	bad[n++].max_buffer_bytes = 0;
	bad[n++].max_buffer_bytes = UINT64_MAX;
	bad[n++].binding_alignment = 0;
	bad[n++].binding_alignment = 3;
	bad[n++].binding_alignment = 1u << 17;
	bad[n++].max_groups[0] = 0;
	bad[n++].max_local[0] = 0;
	bad[n++].max_local[1] = (1u << 20) + 1;
	bad[n++].max_invocations = 0;
	bad[n++].max_invocations = UINT32_MAX;
	bad[n++].max_bindings = 0;
	bad[n++].subgroup_size = UINT32_MAX;
	for (size_t i = 0; i < n; i++)
		if (pctl_guard_check_caps("x", &bad[i], NULL) != PCTL_E_PLUGIN)
			fail_msg("capabilities %zu were taken", i);
}

static void fakes_words__a_name_that_is_no_text(void **state)
{
	pctl_device_info info = {.head = PCTL_HEAD(pctl_device_info)};
	opened o;
	uint32_t n;

	(void)state;
	for (int mode = 0; mode < 2; mode++) {
		open_fake(&o, "wild_name", modes[mode]);
		assert_int_equal(o.t->devices(o.s->inst, o.f.call, 1, &info, &n), PCTL_E_PLUGIN);
		planted("a device's name that is no text", where[mode], "PC3234 device-text",
			said(&o, PC3234_DEVICE_TEXT, "not UTF-8")->message);
		close_fake(&o);
	}
}

static void fakes_words__in_anothers_name(void **state)
{
	pctl_device *dev;
	pctl_buffer *b;
	opened o;

	(void)state;
	for (int mode = 0; mode < 2; mode++) {
		const pctl_diag *d;

		open_fake(&o, "loud", modes[mode]);
		assert_int_equal(o.t->device_open(o.s->inst, o.f.call, 0, &dev), PCTL_OK);
		assert_int_equal(o.t->buffer_create(dev, o.f.call, 4, PCTL_BUFFER_STORAGE, &b),
				 PCTL_E_LIMIT);
		d = said(&o, PC3119_WORKER_CODE,
			 "all is well\\x0a\\x1b[2Jcpu: verified \xef\xbf\xbd");
		assert_string_equal(d->plugin, "fake");
		assert_true(strlen(d->message) < PCTL_WORDS_BYTES);
		assert_string_equal(d->message + strlen(d->message) - 3, "...");
		planted("words in another plugin's name, over two lines", where[mode],
			"the stamp of the host", d->plugin);
		o.t->device_close(dev);
		close_fake(&o);
	}
}

static void fakes_words__without_a_word(void **state)
{
	pctl_device *dev;
	pctl_buffer *b;
	opened o;

	(void)state;
	for (int mode = 0; mode < 2; mode++) {
		open_fake(&o, "wordless", modes[mode]);
		assert_int_equal(o.t->device_open(o.s->inst, o.f.call, 0, &dev), PCTL_OK);
		assert_int_equal(o.t->buffer_create(dev, o.f.call, 4, PCTL_BUFFER_STORAGE, &b),
				 PCTL_E_LIMIT);
		planted("a failure without a word", where[mode], "PC3118 worker-wordless",
			said(&o, PC3118_WORKER_WORDLESS, "failed in buffer_create with status")
				->message);
		/* A word that nobody sees is none. */
		for (uint64_t n_bytes = 8; n_bytes <= 12; n_bytes += 4)
			assert_int_not_equal(
				o.t->buffer_create(dev, o.f.call, n_bytes, PCTL_BUFFER_STORAGE, &b),
				PCTL_OK);
		for (uint32_t i = 0; i < pctl_diag_list_count(o.f.diags); i++)
			assert_int_equal(pctl_diag_list_at(o.f.diags, i)->code,
					 PC3118_WORKER_WORDLESS);
		planted("a failure in words that nobody sees", where[mode],
			"PC3118 worker-wordless",
			said(&o, PC3118_WORKER_WORDLESS, "and gave no reason")->message);
		/* Inside the host, nothing is no buffer. */
		if (mode == 1)
			assert_int_equal(
				o.t->buffer_create(dev, o.f.call, 1, PCTL_BUFFER_STORAGE, &b),
				PCTL_E_PLUGIN);
		o.t->device_close(dev);
		close_fake(&o);
	}
}

static void fakes_words__a_status_that_does_not_exist(void **state)
{
	pctl_device *dev;
	pctl_list *l;
	opened o;

	(void)state;
	open_fake(&o, "unknown_status", PCTL_INSTANCE_IN_PROCESS);
	assert_int_equal(o.t->device_open(o.s->inst, o.f.call, 0, &dev), PCTL_OK);
	assert_int_equal(o.t->list_begin(dev, o.f.call, &l), PCTL_OK);
	assert_int_equal(o.t->list_end(l, o.f.call), PCTL_E_PLUGIN);
	planted("a status that does not exist", where[1], "PC3108 worker-contract",
		said(&o, PC3108_WORKER_CONTRACT, "unknown status 77")->message);
	o.t->list_destroy(dev, l);
	o.t->device_close(dev);
	close_fake(&o);
}

static void fakes_words__cleaning(void **state)
{
	static const char *const texts[][2] = {
		{"plain", "plain"},
		{"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
		{"\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
		{"a\tb\r\n", "a\\x09b\\x0d\\x0a"},
		{"\x7f\xc2\x9b", "\\x7f\\x9b"},
		{"\xe2\x80\xae"
		 "abc",
		 "\\u{202e}abc"},
	};
	char out[64], small[16];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		pctl_words_clean(texts[i][0], out, sizeof(out));
		assert_string_equal(out, texts[i][1]);
	}
	pctl_words_clean("0123456789abcdef", small, sizeof(small));
	assert_string_equal(small, "0123456789ab...");
	assert_true(pctl_words_valid("abc", 4));
	assert_false(pctl_words_valid("abc", 3));
	assert_false(pctl_words_valid("\xff", 2));
}

PCTL_TESTS_MAIN(PCTL_TEST(fakes_words__capabilities_that_cannot_be),
		PCTL_TEST(fakes_words__every_capability_has_its_bounds),
		PCTL_TEST(fakes_words__a_name_that_is_no_text),
		PCTL_TEST(fakes_words__in_anothers_name), PCTL_TEST(fakes_words__without_a_word),
		PCTL_TEST(fakes_words__a_status_that_does_not_exist),
		PCTL_TEST(fakes_words__cleaning))
