/* The store, results and receipts of pipectl.h: what goes in comes out under its name, and what is damaged, absent or forged
 * is refused with its code. */
#include "rig.h"

#include <fcntl.h>
#include <sys/stat.h>

#define ABSENT "bafkreifvxixscx726qmf37htpq7qvifnrmzoddu7vyukm4qrftjyvdtmli"

static void api__bytes_go_there_and_back(void **state)
{
	static const size_t sizes[] = {0, 1, 1000, 3u << 20};
	rig r;

	(void)state;
	rig_open(&r, NULL);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const size_t n = sizes[i];
		uint8_t *data = malloc(n + 1), *read_back = malloc(n + 1);
		char cid[PIPECTL_CID_SIZE], again[PIPECTL_CID_SIZE], path[96];
		pipectl_blob *blob;
		uint64_t n_bytes;
		uint32_t has;
		int fd;

		assert_true(data != NULL && read_back != NULL);
		for (size_t k = 0; k < n; k++)
			data[k] = (uint8_t)(k * 7 + n);
		assert_int_equal(pipectl_store_put(r.p, n == 0 ? NULL : data, n, cid), PCTL_OK);
		assert_int_equal(strlen(cid), PIPECTL_CID_SIZE - 1);
		assert_int_equal(pipectl_store_has(r.p, cid, &has), PCTL_OK);
		assert_int_equal(has, 1);
		snprintf(path, sizeof(path), "%s/file", r.home);
		assert_int_equal(pipectl_store_get_file(r.p, cid, path), PCTL_OK);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		assert_int_equal(read(fd, read_back, n + 1), n);
		assert_memory_equal(read_back, data, n);
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		assert_int_equal(pipectl_store_put_fd(r.p, fd, again, &n_bytes), PCTL_OK);
		close(fd);
		assert_int_equal(n_bytes, n);
		assert_string_equal(again, cid);
		assert_int_equal(pipectl_store_get(r.p, cid, &blob), PCTL_OK);
		assert_int_equal(pipectl_blob_bytes(blob), n);
		assert_memory_equal(pipectl_blob_data(blob), data, n);
		pipectl_blob_release(blob);
		free(data);
		free(read_back);
	}
	pipectl_blob_release(NULL);
	rig_close(&r, 1);
}

static void api__a_blob_outlives_its_installation(void **state)
{
	static const uint8_t zeros[2u << 20];
	char cid[PIPECTL_CID_SIZE];
	pipectl_blob *blob;
	rig r;

	(void)state;
	rig_open(&r, NULL);
	assert_int_equal(pipectl_store_put(r.p, zeros, sizeof(zeros), cid), PCTL_OK);
	assert_int_equal(pipectl_store_get(r.p, cid, &blob), PCTL_OK);
	rig_close(&r, 1);
	assert_memory_equal(pipectl_blob_data(blob), zeros, sizeof(zeros));
	pipectl_blob_release(blob);
}

static void api__what_is_no_blob_is_refused(void **state)
{
	char cid[PIPECTL_CID_SIZE], path[96], command[160];
	pipectl_blob *blob;
	uint64_t n;
	uint32_t has;
	rig r;

	(void)state;
	rig_open(&r, NULL);
	snprintf(path, sizeof(path), "%s/out", r.home);
	REFUSED(&r, PC5004_CAS_ABSENT, pipectl_store_get(r.p, ABSENT, &blob));
	assert_null(blob);
	REFUSED(&r, PC5004_CAS_ABSENT, pipectl_store_get_file(r.p, ABSENT, path));
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(pipectl_store_has(r.p, ABSENT, &has), PCTL_OK);
	assert_int_equal(has, 0);
	REFUSED(&r, PC5005_CAS_CID, pipectl_store_get(r.p, "bafk", &blob));
	REFUSED(&r, PC5005_CAS_CID, pipectl_store_has(r.p, NULL, &has));
	REFUSED(&r, PC11_API_USE, pipectl_store_put(r.p, NULL, 1, cid));
	REFUSED(&r, PC11_API_USE, pipectl_store_get_file(r.p, ABSENT, NULL));
	r.n_errors = 0;
	assert_int_not_equal(pipectl_store_put_fd(r.p, -1, cid, &n), PCTL_OK);
	assert_int_not_equal(r.n_errors, 0);
	assert_string_equal(cid, "");
	/* A blob whose bytes are others is not handed out. */
	assert_int_equal(pipectl_store_put(r.p, "whole", 5, cid), PCTL_OK);
	snprintf(command, sizeof(command),
		 "for f in $(grep -rlx whole %s/cas); do chmod 600 $f; printf spoil > $f; done",
		 r.home);
	assert_int_equal(system(command), 0);
	REFUSED(&r, PC5001_CAS_DAMAGED, pipectl_store_get(r.p, cid, &blob));
	rig_close(&r, 1);
}

static void api__a_result_outlives_its_pipeline(void **state)
{
	pipectl_summary s = {.head = PCTL_HEAD(pipectl_summary)};
	pipectl_output o = {.head = PCTL_HEAD(pipectl_output)};
	pipectl_result *result;
	const void *data, *again;
	uint64_t n;
	rig r;

	(void)state;
	rig_open(&r, NULL);
	assert_int_equal(rig_rank(&r, "20", 0, &result), PCTL_OK);
	assert_int_equal(pipectl_result_summary(result, &s), PCTL_OK);
	assert_string_equal(s.evidence, "verified");
	assert_string_equal(s.device, "cpu:0");
	assert_int_equal(pipectl_result_output_count(result), 1);
	assert_int_equal(pipectl_result_output(result, 0, &o), PCTL_OK);
	assert_string_equal(o.name, "ranks");
	assert_string_equal(o.cid, ABSENT);
	assert_string_equal(o.dtype, "u64");
	assert_true(o.rank == 1 && o.dims[0] == 4 && o.n_bytes == 32);
	assert_int_equal(pipectl_result_data(result, 0, &data, &n), PCTL_OK);
	assert_int_equal(pipectl_result_data(result, 0, &again, &n), PCTL_OK);
	assert_ptr_equal(data, again);
	assert_int_equal(((const uint64_t *)data)[3], 37500000000000);
	assert_non_null(strstr(pipectl_result_json(result), "pipectl.run/1"));
	assert_null(pipectl_result_receipt(result, &n));
	REFUSED(&r, PC11_API_USE, pipectl_result_output(result, 1, &o));
	REFUSED(&r, PC11_API_USE, pipectl_result_data(result, 1, &data, &n));
	pipectl_result_release(result);
	rig_close(&r, 1);
}

static void api__receipts_are_verified(void **state)
{
	pipectl_result *result;
	const char *text;
	char *forged;
	uint64_t n;
	rig r, other;

	(void)state;
	rig_open(&r, NULL);
	rig_open(&other, NULL);
	assert_int_equal(rig_rank(&r, "3", PIPECTL_RUN_RECEIPT, &result), PCTL_OK);
	text = pipectl_result_receipt(result, &n);
	assert_non_null(text);
	assert_int_equal(pipectl_receipt_verify(r.p, "mine", text, n, NULL, 1), PCTL_OK);
	assert_int_equal(pipectl_receipt_verify(other.p, "mine", text, n, NULL, 0), PCTL_OK);
	REFUSED(&other, PC5904_RECEIPT_MISSING,
		pipectl_receipt_verify(other.p, "mine", text, n, NULL, 1));
	REFUSED(&r, PC5906_RECEIPT_SIGNER,
		pipectl_receipt_verify(r.p, "mine", text, n, "another", 0));
	REFUSED(&r, PC11_API_USE, pipectl_receipt_verify(r.p, "mine", NULL, n, NULL, 0));
	REFUSED(&r, PC11_API_USE, pipectl_receipt_verify(r.p, NULL, text, n, NULL, 0));
	forged = malloc(n);
	assert_non_null(forged);
	/* Every bit of the text is under the signature, or is the signature. */
	for (uint64_t i = 0; i < n; i += n / 40) {
		memcpy(forged, text, n);
		forged[i] = (char)(forged[i] ^ 1);
		r.n_errors = 0;
		assert_int_not_equal(pipectl_receipt_verify(r.p, "forged", forged, n, NULL, 0),
				     PCTL_OK);
		assert_int_not_equal(r.n_errors, 0);
		assert_int_not_equal(pipectl_receipt_verify(r.p, "cut", text, i, NULL, 0), PCTL_OK);
	}
	free(forged);
	pipectl_result_release(result);
	rig_close(&other, 1);
	rig_close(&r, 1);
}

PCTL_TESTS_MAIN(PCTL_TEST(api__bytes_go_there_and_back),
		PCTL_TEST(api__a_blob_outlives_its_installation),
		PCTL_TEST(api__what_is_no_blob_is_refused),
		PCTL_TEST(api__a_result_outlives_its_pipeline),
		PCTL_TEST(api__receipts_are_verified))
