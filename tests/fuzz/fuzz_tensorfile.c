/* Any bytes as a file of tensors: refused with an error said, or listed, and every tensor of a type of ours read or refused. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <stdio.h>

#include "foundation/diag/diag.h"
#include "foundation/tensorfile/convert.h"
#include "foundation/tensorfile/tensor_file.h"

#define TENSORS 8u
#define BYTES (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void read_one(pctl_tensor_file *f, uint64_t i)
{
	const pctl_tensor_entry *e = pctl_tensor_file_at(f, i);
	pctl_tensor_statistics s;
	pctl_tensor_type type;
	void *bytes, *out;

	if (e->n_bytes > BYTES || pctl_tensor_file_read(f, i, NULL, &bytes) != PCTL_OK)
		return;
	(void)pctl_tensor_statistics_of(&e->type, bytes, &s);
	if (s.finite + s.nan + s.infinite > s.n)
		abort();
	free(pctl_tensor_picture(&e->type, bytes, 4, 8));
	if (pctl_tensor_convert(e->name, &e->type, bytes, PCTL_SCALAR_F16, PCTL_DTYPE_OVERFLOW_IEEE,
				NULL, &type, &out) == PCTL_OK)
		free(out);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const int fd = memfd_create("fuzz", 0);
	pctl_tensor_file *f;
	char path[64];

	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (pctl_tensor_file_open(path, NULL, &f) == PCTL_OK) {
		for (uint64_t i = 0; i < TENSORS && pctl_tensor_file_at(f, i) != NULL; i++)
			read_one(f, i);
		pctl_tensor_file_close(f);
	} else if (f != NULL) {
		abort();
	}
	close(fd);
	return 0;
}
