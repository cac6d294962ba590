/* A report made from a result put together by hand: the page is well-formed, says what the result says and lets nothing
 * out of its text; the same result gives the same bytes; the manifest notices every change of a file and of itself. */
#include "main.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evidence/audit/html.h"
#include "evidence/audit/manifest.h"
#include "evidence/audit/report.h"
#include "foundation/base/file.h"
#include "foundation/diag/diag.h"

#define N_DEVICES 3u

/* ---- a result ----------------------------------------------------------------------------------- */

typedef struct sample {
	pctl_audit_result r;
	pctl_audit_device devices[N_DEVICES];
	pctl_audit_cell cells[2];
	pctl_cid cids[2][2 * N_DEVICES];
	uint32_t groups[2][2 * N_DEVICES];
	uint64_t ns[2][2 * N_DEVICES];
	pctl_audit_divergence divergence;
	pctl_audit_drift drift;
	pctl_audit_form forms[2];
	pctl_run_output input;
	pctl_setting fact;
} sample;

static void give_cid(sample *s, uint32_t cell, uint32_t slot, uint8_t which)
{
	memset(s->cids[cell][slot].digest, which + 1, PCTL_DIGEST_BYTES);
	s->groups[cell][slot] = which;
}

static void make(sample *s)
{
	static const char *const selectors[N_DEVICES] = {"cpu:0", "vulkan:0", "mock:wrap=<cpu>"};

	memset(s, 0, sizeof(*s));
	s->fact = (pctl_setting){"vendor & \"device\"", "0x1002"};
	for (uint32_t d = 0; d < N_DEVICES; d++)
		s->devices[d] = (pctl_audit_device){.selector = selectors[d],
						    .name = "a device",
						    .driver = "driver 1",
						    .plugin = "p",
						    .driver_key = "k",
						    .identity = &s->fact,
						    .n_identity = 1,
						    .outcome = PCTL_AUDIT_AGREES,
						    .n_runs = 2,
						    .wall_ns = 1234567 * (d + 1)};
	for (uint32_t c = 0; c < 2; c++) {
		s->cells[c] = (pctl_audit_cell){.job = c == 0 ? "prepare" : "iterate",
						.what = "op@1",
						.port = "out",
						.type = {PCTL_SCALAR_F32, 1, {1000}},
						.n_bytes = 4000,
						.cids = s->cids[c],
						.groups = s->groups[c],
						.device_ns = s->ns[c],
						.n_groups = 1,
						.agreed = 1,
						.evidence = {1000, 3, 1, 900, 0, 0}};
		for (uint32_t i = 0; i < 2 * N_DEVICES; i++) {
			give_cid(s, c, i, 0);
			s->ns[c][i] = 1000 * (i + 1);
		}
	}
	s->input = (pctl_run_output){
		.name = "edges", .type = {PCTL_SCALAR_U32, 2, {8, 2}}, .n_bytes = 64};
	s->r = (pctl_audit_result){.pipeline = "<script>alert('x')</script>",
				   .pipeline_class = "strict",
				   .inputs = &s->input,
				   .n_inputs = 1,
				   .devices = s->devices,
				   .n_devices = N_DEVICES,
				   .cells = s->cells,
				   .n_cells = 2,
				   .repeat = 2,
				   .quorum = 2,
				   .agreed = 1,
				   .decided = 1,
				   .compared_bytes = 48000,
				   .wall_ns = 5000000000};
}

/* The last device lies in one bit of element 17. */
static void make_divergent(sample *s)
{
	make(s);
	give_cid(s, 1, 4, 1);
	give_cid(s, 1, 5, 2);
	s->cells[1].agreed = 0;
	s->cells[1].n_groups = 3;
	s->devices[2].outcome = PCTL_AUDIT_OUTVOTED;
	s->devices[2].cause = "element 17 & more";
	s->divergence = (pctl_audit_divergence){.device = 2,
						.job = "iterate",
						.what = "op@1",
						.port = "out",
						.n_different = 1,
						.element = 17,
						.got = 0x3f800010,
						.want = 0x3f800000,
						.element_bytes = 4,
						.flipped_bits = 1,
						.ulp = 16,
						.known = 1,
						.round = 17,
						.step = 2,
						.kernel = "step.wgsl",
						.buffer = "temporary 3",
						.buffer_element = 5,
						.buffer_got = 1,
						.buffer_want = 3,
						.command = "pipectl shader run x --in a='b'",
						.shrunk_bytes = 256,
						.shrunk_from = 100000,
						.groups = {1, 1, 1},
						.reproduced = 3,
						.tried = 3};
	s->drift = (pctl_audit_drift){.device = 2,
				      .job = 1,
				      .n_elements = 1000,
				      .n_different = 1,
				      .first = 17,
				      .first_got = 0x3f800010,
				      .first_want = 0x3f800000,
				      .max_ulp = 16,
				      .max_at = 17,
				      .max_got = 0x3f800010,
				      .max_want = 0x3f800000,
				      .mean_ulp = 0.016};
	s->drift.histogram[0] = 999;
	s->drift.histogram[5] = 1;
	s->drift.strip_ppm[4] = 250000;
	s->drift.strip_ulp[4] = 16;
	s->forms[0] = (pctl_audit_form){1, "FADD", "f32", "guarded", 2000, 1000};
	s->forms[1] = (pctl_audit_form){1, "FEXP", "f32", "int", 90000, 0};
	s->r.agreed = 0;
	s->r.divergences = &s->divergence;
	s->r.drifts = &s->drift;
	s->r.forms = s->forms;
	s->r.n_divergences = s->r.n_drifts = 1;
	s->r.n_forms = 2;
}

/* Strict runs agree, native ones go three ways. */
static void make_natives(sample *s)
{
	make_divergent(s);
	for (uint32_t d = 0; d < N_DEVICES; d++) {
		give_cid(s, 1, 2 * d, 0);
		give_cid(s, 1, 2 * d + 1, (uint8_t)(d + 1));
		s->devices[d].outcome = PCTL_AUDIT_AGREES;
		s->devices[d].cause = NULL;
	}
	s->r.natives = 1;
	s->r.n_divergences = 0;
}

static char *page_of(const sample *s)
{
	pctl_str_buf out = PCTL_STR_BUF_INIT;
	char *text;

	pctl_html_page(&out, &s->r, "pipectl audit \"x\" --natives");
	text = pctl_str_finish(&out);
	assert_non_null(text);
	return text;
}

/* ---- the page ----------------------------------------------------------------------------------- */

/* Every tag that opens closes, in order; no bare '<' or '&' in between. */
static void assert_well_formed(const char *text)
{
	char open[64][16];
	uint32_t depth = 0, tags = 0;

	text = strchr(text, '\n') + 1; /* the document type */
	while ((text = strchr(text, '<')) != NULL) {
		const int closes = text[1] == '/';
		const char *name = text + 1 + closes, *end = strchr(text, '>');
		const size_t n = strcspn(name, " />\n");

		assert_non_null(end);
		assert_in_range(n, 1, 15);
		if (closes) {
			assert_true(depth > 0);
			depth--;
			assert_memory_equal(open[depth], name, n);
			assert_int_equal(open[depth][n], 0);
		} else if (end[-1] != '/') {
			assert_true(depth < 64);
			memcpy(open[depth], name, n);
			open[depth++][n] = '\0';
		}
		tags++;
		text = end;
	}
	assert_int_equal(depth, 0);
	assert_true(tags > 50);
}

static void test_audit__page_says_that_all_agreed(void **state)
{
	char *text;
	sample s;
	(void)state;

	make(&s);
	text = page_of(&s);
	assert_well_formed(text);
	assert_non_null(strstr(
		text, "All 3 devices gave the same bytes: 2 outputs of 2 jobs, 2 runs a device"));
	assert_null(strstr(text, "id=\"divergences\""));
	free(text);
}

static void test_audit__page_lets_nothing_out_of_its_text(void **state)
{
	char *text;
	sample s;
	(void)state;

	make_divergent(&s);
	s.divergence.kernel = "\"><img src=x onerror=alert(1)>";
	text = page_of(&s);
	assert_well_formed(text);
	assert_null(strstr(text, "<script"));
	assert_null(strstr(text, "<img"));
	assert_non_null(strstr(text, "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"));
	assert_non_null(strstr(text, "mock:wrap=&lt;cpu&gt;"));
	/* and nothing is fetched from elsewhere */
	assert_null(strstr(text, "http:"));
	assert_null(strstr(text, "https:"));
	assert_null(strstr(text, "url("));
	free(text);
}

static void test_audit__page_takes_a_difference_down_to_its_bits(void **state)
{
	char *text;
	sample s;
	(void)state;

	make_divergent(&s);
	text = page_of(&s);
	assert_well_formed(text);
	assert_non_null(strstr(text, "round 17"));
	assert_non_null(strstr(text, "step.wgsl"));
	assert_non_null(strstr(text, "temporary 3"));
	assert_non_null(strstr(text, "0x3f800010"));
	assert_non_null(strstr(text, "1.00000191"));
	assert_non_null(strstr(text, "16 ULP apart"));
	assert_non_null(strstr(text, "pipectl shader run x --in a=&#39;b&#39;"));
	assert_non_null(strstr(text, "came again in 3 of 3 tries"));
	assert_non_null(strstr(text, "element 17 &amp; more"));
	assert_non_null(strstr(text, "2.00x"));
	free(text);
}

static void test_audit__page_of_natives_is_the_contrast(void **state)
{
	char *text;
	sample s;
	(void)state;

	make_natives(&s);
	assert_int_equal(pctl_count_cids(&s.r, 1, 0), 1);
	assert_int_equal(pctl_count_cids(&s.r, 1, 1), 3);
	assert_true(pctl_strict_agreed(&s.r));
	text = page_of(&s);
	assert_well_formed(text);
	assert_non_null(strstr(text, "Strict: one CID on all 3 devices"));
	assert_non_null(strstr(text, "up to 3 different CIDs"));
	assert_non_null(strstr(text, "id=\"contrast\""));
	free(text);
	/* a strict run that differs spoils it */
	give_cid(&s, 1, 2, 5);
	assert_false(pctl_strict_agreed(&s.r));
}

static void test_audit__page_of_weak_evidence_says_so(void **state)
{
	char *text;
	sample s;
	(void)state;

	make(&s);
	s.r.weak = 1;
	s.cells[0].evidence.weak = 1;
	text = page_of(&s);
	assert_non_null(strstr(text, "Nothing was shown"));
	assert_non_null(strstr(text, "weak evidence"));
	assert_null(strstr(text, "gave the same bytes"));
	free(text);
}

static void test_audit__page_is_the_same_twice(void **state)
{
	char *a, *b;
	sample s;
	(void)state;

	make_natives(&s);
	a = page_of(&s);
	b = page_of(&s);
	assert_string_equal(a, b);
	free(a);
	free(b);
}

static void test_audit__json_has_floats_to_the_bit(void **state)
{
	pctl_json j;
	char *text;
	sample s;
	(void)state;

	make_divergent(&s);
	pctl_json_init(&j, 0);
	pctl_json_object_begin(&j);
	pctl_audit_json(&s.r, &j);
	pctl_json_object_end(&j);
	text = pctl_json_finish(&j);
	assert_non_null(text);
	assert_non_null(
		strstr(text, "\"mean_ulp\":0.016,\"mean_ulp_bits\":\"0x3f90624dd2f1a9fc\""));
	assert_non_null(strstr(text, "\"compared_bytes\":\"48000\""));
	assert_non_null(strstr(text, "\"outcome\":\"differs\""));
	assert_non_null(strstr(text, "\"kernel\":\"step.wgsl\""));
	free(text);
}

/* ---- the directory ------------------------------------------------------------------------------ */

typedef struct place {
	char dir[64], key[PCTL_PUBLIC_KEY_TEXT];
	pctl_signer *signer;
	pctl_diag_list *said;
} place;

static void path_of(const place *p, const char *name, char out[256])
{
	snprintf(out, 256, "%s/report/%s", p->dir, name);
}

static void open_place(place *p, const sample *s)
{
	char path[256];

	memset(p, 0, sizeof(*p));
	strcpy(p->dir, "/tmp/pipectl-report-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	p->said = pctl_diag_list_create();
	assert_int_equal(pctl_signer_open(p->dir, NULL, &p->signer), PCTL_OK);
	path_of(p, "repro/sub", path);
	assert_int_equal(pctl_file_make_dirs(path, NULL), PCTL_OK);
	path_of(p, "repro/sub/a \"name\".bin", path);
	assert_int_equal(pctl_file_write(path, "abc", 3, 0, NULL), PCTL_OK);
	path_of(p, "", path);
	assert_int_equal(pctl_audit_report(&s->r, "command", path, p->signer, NULL), PCTL_OK);
}

static void close_place(place *p)
{
	char command[128];

	pctl_signer_close(p->signer);
	pctl_diag_list_destroy(p->said);
	snprintf(command, sizeof(command), "rm -rf %s", p->dir);
	assert_int_equal(system(command), 0);
}

/* The code of the first complaint, 0 for none. */
static uint32_t verify(place *p)
{
	char path[256];
	uint32_t code = 0;
	pctl_status status;

	path_of(p, "", path);
	pctl_diag_list_destroy(p->said);
	p->said = pctl_diag_list_create();
	status = pctl_audit_verify(path, pctl_diag_list_call(p->said), p->key);
	if (pctl_diag_list_count(p->said) != 0)
		code = pctl_diag_list_at(p->said, 0)->code;
	assert_int_equal(status == PCTL_OK, code == 0);
	return code;
}

static void write_at(const place *p, const char *name, const char *data, uint64_t n)
{
	char path[256];

	path_of(p, name, path);
	assert_int_equal(pctl_file_write(path, data, n, 0, NULL), PCTL_OK);
}

static char *read_at(const place *p, const char *name, uint64_t *n)
{
	char path[256], *text;

	path_of(p, name, path);
	assert_int_equal(pctl_file_read(path, 1u << 24, NULL, &text, n), PCTL_OK);
	return text;
}

static void test_audit__manifest_notices_every_byte(void **state)
{
	static const char *const names[] = {"index.html", "report.json", "repro/sub/a \"name\".bin",
					    "manifest.cfg"};
	sample s;
	place p;
	(void)state;

	make_divergent(&s);
	open_place(&p, &s);
	assert_int_equal(verify(&p), 0);
	assert_string_equal(p.key, pctl_signer_public(p.signer));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t n;
		char *text = read_at(&p, names[i], &n);

		for (uint64_t at = 0; at < n; at += 1 + n / 24) {
			text[at] ^= 1;
			write_at(&p, names[i], text, n);
			assert_int_equal(verify(&p),
					 i == 3 ? PC5012_CAS_SIGNATURE : PC5610_REPORT_FILE);
			text[at] ^= 1;
		}
		write_at(&p, names[i], text, n - 1);
		assert_int_equal(verify(&p), i == 3 ? PC5012_CAS_SIGNATURE : PC5610_REPORT_FILE);
		write_at(&p, names[i], text, n);
		assert_int_equal(verify(&p), 0);
		free(text);
	}
	close_place(&p);
}

static void test_audit__manifest_notices_files_added_and_removed(void **state)
{
	char path[256];
	sample s;
	place p;
	(void)state;

	make(&s);
	open_place(&p, &s);
	write_at(&p, "repro/more", "x", 1);
	assert_int_equal(verify(&p), PC5610_REPORT_FILE);
	path_of(&p, "repro/more", path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(verify(&p), 0);
	path_of(&p, "report.json", path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(verify(&p), PC5610_REPORT_FILE);
	path_of(&p, "manifest.cfg", path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(verify(&p), PC3_IO);
	close_place(&p);
}

static void test_audit__a_sealed_text_that_is_no_manifest(void **state)
{
	static const char *const texts[] = {
		"manifest : { };\n",
		"manifest : {\n  schema = \"pipectl.audit-manifest/1\";\n  files = (\n  oops\n  "
		");\n};\n",
		"manifest : {\n  schema = \"pipectl.audit-manifest/1\";\n  files = (\n  "
		");\n};\nmore\n"};
	sample s;
	place p;
	(void)state;

	make(&s);
	open_place(&p, &s);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		pctl_str_buf text = PCTL_STR_BUF_INIT;

		pctl_str_add(&text, texts[i]);
		assert_int_equal(pctl_signer_seal(p.signer, &text, NULL), PCTL_OK);
		write_at(&p, "manifest.cfg", text.data, text.n);
		assert_int_equal(verify(&p), PC5611_REPORT_MANIFEST);
		pctl_str_drop(&text);
	}
	close_place(&p);
}

/* What an earlier report of ours left goes; what somebody else put there stays and is listed. */
static void test_audit__a_second_report_replaces_the_first(void **state)
{
	char path[256], dir[256];
	uint64_t n;
	char *text;
	sample s;
	place p;
	(void)state;

	make(&s);
	open_place(&p, &s);
	write_at(&p, "theirs.txt", "x", 1);
	make_divergent(&s);
	path_of(&p, "", path);
	assert_int_equal(pctl_audit_report(&s.r, "command", path, p.signer, NULL), PCTL_OK);
	assert_int_equal(verify(&p), 0);
	path_of(&p, "repro/sub/a \"name\".bin", path);
	assert_false(pctl_file_exists(path));
	path_of(&p, "theirs.txt", path);
	assert_true(pctl_file_exists(path));
	text = read_at(&p, "index.html", &n);
	assert_non_null(strstr(text, "round 17"));
	free(text);
	/* a reproduction that this audit has just written stays */
	path_of(&p, "repro/sub", dir);
	write_at(&p, "repro/sub/step.wgsl", "x", 1);
	path_of(&p, "", path);
	assert_int_equal(pctl_audit_report(&s.r, "command", path, p.signer, NULL), PCTL_OK);
	s.divergence.dir = dir;
	assert_int_equal(pctl_audit_report(&s.r, "command", path, p.signer, NULL), PCTL_OK);
	path_of(&p, "repro/sub/step.wgsl", path);
	assert_true(pctl_file_exists(path));
	assert_int_equal(verify(&p), 0);
	close_place(&p);
}

static void test_audit__a_report_into_a_directory_with_a_link_is_refused(void **state)
{
	char path[256], link[256];
	sample s;
	place p;
	(void)state;

	make(&s);
	open_place(&p, &s);
	path_of(&p, "link", link);
	assert_int_equal(symlink("/etc/passwd", link), 0);
	path_of(&p, "", path);
	assert_int_equal(pctl_audit_report(&s.r, "command", path, p.signer, NULL), PCTL_E_IO);
	assert_int_equal(verify(&p), PC3_IO);
	close_place(&p);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_audit__page_says_that_all_agreed),
		PCTL_TEST(test_audit__page_lets_nothing_out_of_its_text),
		PCTL_TEST(test_audit__page_takes_a_difference_down_to_its_bits),
		PCTL_TEST(test_audit__page_of_natives_is_the_contrast),
		PCTL_TEST(test_audit__page_of_weak_evidence_says_so),
		PCTL_TEST(test_audit__page_is_the_same_twice),
		PCTL_TEST(test_audit__json_has_floats_to_the_bit),
		PCTL_TEST(test_audit__manifest_notices_every_byte),
		PCTL_TEST(test_audit__manifest_notices_files_added_and_removed),
		PCTL_TEST(test_audit__a_sealed_text_that_is_no_manifest),
		PCTL_TEST(test_audit__a_second_report_replaces_the_first),
		PCTL_TEST(test_audit__a_report_into_a_directory_with_a_link_is_refused))
