/* The token scanner behind conf.h: the tokens of libconfig 1.5 with file, line and columns,
 * includes followed, and every literal that libconfig would damage refused. It builds the flat text
 * that libconfig then parses. Internal to conf. */
#ifndef PIPECTL_FOUNDATION_CONF_SCAN_H
#define PIPECTL_FOUNDATION_CONF_SCAN_H

#include "foundation/base/arena.h"
#include "foundation/base/str.h"
#include "foundation/base/vec.h"
#include "foundation/conf/conf.h"

enum {
	TOKEN_END,
	TOKEN_NAME,
	TOKEN_EQUALS,
	TOKEN_COMMA,
	TOKEN_SEMICOLON,
	TOKEN_OPEN,  /* { [ ( */
	TOKEN_CLOSE, /* } ] ) */
	TOKEN_BOOL,
	TOKEN_INT,
	TOKEN_INT64,
	TOKEN_FLOAT,
	TOKEN_STRING,
	TOKEN_GARBAGE
};

typedef struct pctl_conf_token {
	uint32_t kind;
	pctl_pos pos;
	const char *text;
	size_t n;
} pctl_conf_token;

typedef struct pctl_conf_source {
	const char *name;
	char *text; /* NUL behind n bytes; released with free() */
	size_t n;
} pctl_conf_source;

/* One file being scanned. flushed: bytes up to here are in the flat text. */
typedef struct pctl_conf_frame {
	uint32_t source;
	uint32_t line;
	size_t at, line_start, flushed;
	uint32_t flushed_line;
} pctl_conf_frame;

typedef PCTL_VEC(pctl_conf_source) pctl_conf_sources;

typedef struct pctl_conf_scanner {
	const pctl_call *call;
	const pctl_vfs *vfs; /* what includes are read from */
	pctl_arena *arena;   /* names and positions live here */
	pctl_conf_sources *sources;
	pctl_conf_frame frames[PCTL_CONF_INCLUDE_MAX + 1];
	uint32_t n_frames;
	uint32_t n_includes;
	uint64_t bytes;
	pctl_str_buf flat;
	pctl_pos end;		       /* behind the last byte of the file that was left last */
	PCTL_VEC(pctl_pos) flat_lines; /* file and line of each line of the flat text */
	uint32_t n_errors;
	pctl_status status; /* of the first error */
} pctl_conf_scanner;

/* Begin with a text that the scanner takes over, also on failure. */
pctl_status pctl_conf_scan_begin(pctl_conf_scanner *s, const char *name, char *text, size_t n);
void pctl_conf_scan_next(pctl_conf_scanner *s, pctl_conf_token *out);
void pctl_conf_scan_end(pctl_conf_scanner *s);

/* Report an error at a token; counts it, and drops it beyond PCTL_CONF_ERRORS_MAX. notes may be
 * NULL. */
void pctl_conf_scan_error(pctl_conf_scanner *s, uint32_t code, const pctl_pos *pos,
			  const pctl_note *note, const char *hint, const char *fmt, ...)
	PCTL_PRINTF(6, 7);
void pctl_conf_scan_nomem(pctl_conf_scanner *s);

/* ---- between scan.c and lex.c ------------------------------------------------------------- */

/* The innermost open file; only while n_frames > 0. */
pctl_conf_frame *pctl_conf_scan_top(pctl_conf_scanner *s);
/* The position of bytes from .. to of the frame's present line. */
pctl_pos pctl_conf_scan_pos(const pctl_conf_scanner *s, const pctl_conf_frame *f, size_t from,
			    size_t to);
/* Leave the innermost file, whose text is at its end. */
void pctl_conf_scan_pop(pctl_conf_scanner *s);
/* At an `@`: 1 when it was an include directive, good or bad, and the scanner moved past it. */
int pctl_conf_scan_include(pctl_conf_scanner *s);

#endif
