/* CAR files: what is written, that it comes back, and that nothing of a damaged file does. */
#include "main.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/cas/car.h"

static uint32_t last_code, n_codes;

static void note(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	last_code = d->code;
	n_codes++;
}

static const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = note};

static char dir[] = "/tmp/pctl-car-XXXXXX";
static char path[64];

static int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/pctl-car-XXXXXX");
	if (mkdtemp(dir) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/a.car", dir);
	return 0;
}

static int drop_dir(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command) != 0;
}

static pctl_store *open_store(void)
{
	pctl_store *s;

	assert_int_equal(pctl_store_open_memory(&call, &s), PCTL_OK);
	last_code = n_codes = 0;
	return s;
}

static pctl_cid put(pctl_store *s, const void *data, uint64_t n)
{
	pctl_cid cid;

	assert_int_equal(pctl_store_put(s, data, n, &call, &cid), PCTL_OK);
	return cid;
}

static uint8_t *read_file(uint64_t *n)
{
	static uint8_t bytes[1 << 16];
	FILE *f = fopen(path, "rb");

	assert_non_null(f);
	*n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	return bytes;
}

static void write_file(const void *bytes, uint64_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

static int count(void *ctx, const pctl_cid *cid, uint64_t n_bytes)
{
	uint32_t *n = ctx;

	(void)cid;
	(void)n_bytes;
	(*n)++;
	return 0;
}

static uint32_t n_blobs(pctl_store *s)
{
	uint32_t n = 0;

	assert_int_equal(pctl_store_list(s, &call, count, &n), PCTL_OK);
	return n;
}

/* The shortest file there is, worked out by hand from the specification: one root, one block of the two bytes "hi". */
static void test_cas_car__the_smallest_file(void **state)
{
	static const char want[] =
		"3aa265726f6f747381d82a582500015512208f434346648f6b96df89dda901c5176b10a6d83961dd3c"
		"1a"
		"c88b59b2dc327aa46776657273696f6e01"
		"26015512208f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa46869";
	pctl_store *s = open_store();
	const pctl_cid root = put(s, "hi", 2);
	pctl_car_report report;
	char got[512] = "";
	uint64_t n;
	const uint8_t *bytes;

	(void)state;
	assert_int_equal(pctl_car_export(s, path, &root, 1, NULL, 0, &call, &report), PCTL_OK);
	assert_int_equal(report.n_blocks, 1);
	assert_int_equal(report.n_bytes, 2);
	bytes = read_file(&n);
	for (uint64_t i = 0; i < n; i++)
		snprintf(got + 2 * i, 3, "%02x", bytes[i]);
	assert_string_equal(got, want);
	pctl_store_close(s);
}

/* A file of several blocks, one of them a root, and two without bytes and with more than a buffer. */
static void export_sample(pctl_store *s, uint64_t large)
{
	uint8_t *data = calloc(1, large);
	pctl_cid roots[2], others[4];
	pctl_car_report report;

	assert_non_null(data);
	roots[0] = put(s, "one", 3);
	roots[1] = put(s, "", 0);
	others[0] = put(s, "two", 3);
	others[1] = put(s, data, large);
	others[2] = roots[1];
	others[3] = others[0];
	assert_int_equal(pctl_car_export(s, path, roots, 2, others, 4, &call, &report), PCTL_OK);
	assert_int_equal(report.n_blocks, 4);
	free(data);
}

static void test_cas_car__comes_back(void **state)
{
	pctl_store *s = open_store(), *t = open_store();
	pctl_car_report report;
	uint64_t n_first, n_second;
	uint8_t *first;

	(void)state;
	/* Larger than a buffer: through a map of the file. */
	export_sample(s, (3u << 20) + 1);
	assert_int_equal(pctl_car_import(t, path, &call, &report), PCTL_OK);
	assert_int_equal(report.n_blocks, 4);
	assert_int_equal(report.n_roots, 2);
	assert_int_equal(report.n_bytes, (3u << 20) + 7);
	pctl_car_report_clear(&report);
	assert_int_equal(n_blobs(t), 4);
	/* The same names give the same bytes. */
	export_sample(s, 10);
	first = malloc(1 << 16);
	assert_non_null(first);
	memcpy(first, read_file(&n_first), 1 << 16);
	export_sample(t, 10);
	assert_memory_equal(first, read_file(&n_second), n_first);
	assert_int_equal(n_first, n_second);
	free(first);
	pctl_store_close(s);
	pctl_store_close(t);
}

static void refused(pctl_store *s, const char *what, uint64_t at)
{
	pctl_car_report report;

	last_code = n_codes = 0;
	if (pctl_car_import(s, path, &call, &report) == PCTL_OK ||
	    (last_code != PC5890_CAR_FORM && last_code != PC5891_CAR_CID &&
	     last_code != PC5892_CAR_BLOCK))
		fail_msg("%s %u: code %u", what, (unsigned)at, last_code);
	if (n_blobs(s) != 0)
		fail_msg("%s %u: something was imported", what, (unsigned)at);
}

static void test_cas_car__no_damaged_file_is_taken_in(void **state)
{
	pctl_store *s = open_store(), *t = open_store();
	static uint8_t whole[4096], bad[4096];
	uint64_t n;

	(void)state;
	export_sample(s, 40);
	memcpy(whole, read_file(&n), sizeof(whole));
	for (uint64_t i = 0; i < n; i++)
		for (uint32_t bit = 0; bit < 8; bit++) {
			memcpy(bad, whole, n);
			bad[i] ^= (uint8_t)(1u << bit);
			write_file(bad, n);
			refused(t, "flipped byte", i);
		}
	for (uint64_t i = 0; i < n; i++) {
		write_file(whole, i);
		refused(t, "cut at", i);
	}
	memcpy(bad, whole, n);
	bad[n] = 0;
	write_file(bad, n + 1);
	refused(t, "one more byte", n);
	pctl_store_close(s);
	pctl_store_close(t);
}

static void refused_as(const char *hex, uint32_t code)
{
	uint8_t bytes[256];
	pctl_store *s = open_store();
	pctl_car_report report;
	uint64_t n = strlen(hex) / 2;

	for (uint64_t i = 0; i < n; i++) {
		unsigned byte;

		assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
		bytes[i] = (uint8_t)byte;
	}
	write_file(bytes, n);
	assert_int_not_equal(pctl_car_import(s, path, &call, &report), PCTL_OK);
	assert_int_equal(last_code, code);
	assert_int_equal(n_codes, 1);
	assert_int_equal(n_blobs(s), 0);
	pctl_store_close(s);
}

#define DIGEST "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"
#define HEADER "3aa265726f6f747381d82a58250001551220" DIGEST "6776657273696f6e01"

static void test_cas_car__each_refusal_has_its_code(void **state)
{
	(void)state;
	/* Version 2, no roots, an array of 2^32 roots, no CBOR, nothing. */
	refused_as("0aa16776657273696f6e02", PC5890_CAR_FORM);
	refused_as("11a265726f6f7473806776657273696f6e01", PC5890_CAR_FORM);
	refused_as("15a265726f6f74739affffffff6776657273696f6e01", PC5890_CAR_FORM);
	refused_as("0568656c6c6f", PC5890_CAR_FORM);
	refused_as("", PC5890_CAR_FORM);
	/* A length in more bytes than it needs, one of ten bytes, one that is longer than the file. */
	refused_as(HEADER "a60001551220" DIGEST "6869", PC5890_CAR_FORM);
	refused_as(HEADER "ffffffffffffffffff01", PC5890_CAR_FORM);
	refused_as(HEADER "ffffffffffffffff7f", PC5890_CAR_FORM);
	/* A root that is not in the file; an empty block. */
	refused_as(HEADER, PC5890_CAR_FORM);
	refused_as(HEADER "2601551220" DIGEST "686900", PC5890_CAR_FORM);
	/* CIDv0, dag-pb, sha2-512 as names of blocks, and dag-cbor as a root. */
	refused_as(HEADER "241220" DIGEST "6869", PC5891_CAR_CID);
	refused_as(HEADER "2601701220" DIGEST "6869", PC5891_CAR_CID);
	refused_as(HEADER "2601551340" DIGEST "6869", PC5891_CAR_CID);
	refused_as("3aa265726f6f747381d82a58250001711220" DIGEST "6776657273696f6e01",
		   PC5891_CAR_CID);
	refused_as(HEADER "2601551220" DIGEST "686a", PC5892_CAR_BLOCK);
}

static void test_cas_car__what_cannot_be_exported(void **state)
{
	pctl_store *s = open_store();
	pctl_cid cids[2] = {put(s, "here", 4), {{1}}};
	const pctl_cid twice[2] = {cids[0], cids[0]};
	pctl_car_report report;

	(void)state;
	unlink(path);
	assert_int_equal(pctl_car_export(s, path, cids, 0, NULL, 0, &call, &report),
			 PCTL_E_INVALID);
	assert_int_equal(last_code, PC5890_CAR_FORM);
	assert_int_equal(pctl_car_export(s, path, twice, 2, NULL, 0, &call, &report),
			 PCTL_E_INVALID);
	n_codes = 0;
	assert_int_equal(pctl_car_export(s, path, cids, 2, &cids[1], 1, &call, &report),
			 PCTL_E_NOT_FOUND);
	assert_int_equal(last_code, 5004);
	assert_int_equal(n_codes, 1);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_not_equal(pctl_car_export(s, "/nowhere/a.car", cids, 1, NULL, 0, &call, &report),
			     PCTL_OK);
	assert_int_not_equal(pctl_car_import(s, dir, &call, &report), PCTL_OK);
	assert_int_not_equal(pctl_car_import(s, "/nowhere/a.car", &call, &report), PCTL_OK);
	pctl_store_close(s);
}

#define IN_DIR(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)

PCTL_TESTS_MAIN(IN_DIR(test_cas_car__the_smallest_file), IN_DIR(test_cas_car__comes_back),
		IN_DIR(test_cas_car__no_damaged_file_is_taken_in),
		IN_DIR(test_cas_car__each_refusal_has_its_code),
		IN_DIR(test_cas_car__what_cannot_be_exported))
