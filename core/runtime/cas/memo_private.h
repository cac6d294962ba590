/* Inside of the memo table, shared by memo.c and made.c: texts that are checked by a digest of their own. */
#ifndef PIPECTL_RUNTIME_CAS_MEMO_PRIVATE_H
#define PIPECTL_RUNTIME_CAS_MEMO_PRIVATE_H

#include "foundation/base/str.h"
#include "runtime/cas/memo.h"

struct pctl_memo {
	char *path;
	pctl_store *store;
};

/* The text with its last line, "sum HEX", released with free(); NULL: no memory. The buffer is used up. */
char *pctl_memo_seal(pctl_str_buf *s);
/* 1 when the last line is the digest of all lines before. */
int pctl_memo_sealed(const char *text, size_t n);
/* Cut the next line off *text; NULL at the end. */
char *pctl_memo_line(char **text);

#endif
