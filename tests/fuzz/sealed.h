/* What readers of signed texts are fuzzed with: the text sealed by a key of this process, so that the search is not stopped
 * at the signature, and a path from which it is read. */
#ifndef PIPECTL_TESTS_FUZZ_SEALED_H
#define PIPECTL_TESTS_FUZZ_SEALED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "foundation/base/str.h"
#include "runtime/cas/sign.h"

/* Made once, in a folder that is gone again at once: a key's file is read only when it is opened. */
static inline const pctl_signer *fuzz_signer(void)
{
	static pctl_signer *s;
	char dir[] = "/tmp/pipectl-fuzz-XXXXXX", file[64];

	if (s != NULL)
		return s;
	if (mkdtemp(dir) == NULL || pctl_signer_open(dir, NULL, &s) != PCTL_OK)
		abort();
	snprintf(file, sizeof(file), "%s/signing.pem", dir);
	unlink(file);
	rmdir(dir);
	return s;
}

/* The text and its signature, released with free(). */
static inline char *fuzz_seal(const uint8_t *data, size_t n, size_t *n_out)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	char *out;

	pctl_str_add_n(&text, (const char *)data, n);
	if (n == 0 || data[n - 1] != '\n')
		pctl_str_addf(&text, "\n");
	if (pctl_signer_seal(fuzz_signer(), &text, NULL) != PCTL_OK)
		abort();
	*n_out = text.n;
	out = pctl_str_finish(&text);
	if (out == NULL)
		abort();
	return out;
}

/* The bytes as a file in memory; its path is good until the next call. */
static inline const char *fuzz_file(const void *data, size_t n)
{
	static char path[64];
	static int fd = -1;

	if (fd >= 0)
		close(fd);
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

#endif
