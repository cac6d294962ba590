/* Records: texts with one spelling, described by tables of fields: in libconfig's grammar, or as lines. One table writes a
 * record, reads it, holds what was read against what writing gives, and is printed as the format's document (FORMATS.md). What
 * stands in no table (signatures, sums, what one field says of another) is its owner's business.
 *
 * Lines have two shapes. PCTL_RECORD_LINES is a whole text: each field is a line, each item of a list is a line.
 * PCTL_RECORD_ROW is one line: each field is a value, each item of a list some more of them, with the shape's byte `between`
 * them. A row within a row or behind the name of a line has a byte of its own or goes on with that one; its last value ends
 * where it does. A field is named (PCTL_RECORD_NAMED: its key and the byte stand before it) or known by its place. */
#ifndef PIPECTL_FOUNDATION_RECORD_RECORD_H
#define PIPECTL_FOUNDATION_RECORD_RECORD_H

#include <stddef.h>

#include "foundation/base/arena.h"
#include "foundation/base/str.h"
#include "foundation/conf/conf.h"

#define PCTL_RECORD_CODED_MAX 192u /* bytes of a coded value with its NUL */

/* What a field holds, and the member it is kept in. Numbers stand in quotes unless PCTL_RECORD_BARE. */
enum {
	PCTL_RECORD_TEXT = 1, /* const char *; NULL is written as "" */
	PCTL_RECORD_CHARS,    /* char[bound] */
	PCTL_RECORD_U32,      /* uint32_t up to bound */
	PCTL_RECORD_U64,      /* uint64_t up to bound */
	PCTL_RECORD_BOOL,     /* uint32_t, 0 or 1 */
	PCTL_RECORD_HEX,      /* uint8_t[bound] */
	PCTL_RECORD_CODED,    /* anything, by `coding` */
	PCTL_RECORD_CONSTANT, /* no member: always `constant` */
	PCTL_RECORD_GROUP,    /* the fields of `of`, in a struct at the member */
	PCTL_RECORD_LIST,    /* pointer to items of `of`, uint32_t of them at n_at; at most bound */
	PCTL_RECORD_KEYED,   /* bound values whose keys `keys` names; not among lines */
	PCTL_RECORD_DERIVED, /* no member: `derive` writes all that stands behind the key */
	PCTL_RECORD_WORD, /* uint32_t below bound: that one of `words`, of which some may be NULL */
	PCTL_RECORD_BYTES /* among lines: uint8_t *, uint32_t of them at n_at, 1 to bound, as hex */
};

/* Flags of fields. */
enum {
	PCTL_RECORD_BARE = 1u, /* a number without quotes */
	PCTL_RECORD_OPTIONAL =
		2u, /* TEXT, CHARS: absent when empty. U64, among lines: when 0. GROUP, LIST: when the uint32_t at n_at is 0;
				      * n_at 0: when the first TEXT of the group is empty */
	PCTL_RECORD_SAME = 4u,	   /* LIST: more fields of the items that an earlier list made */
	PCTL_RECORD_LINE = 8u,	   /* among fields of one line: begins another one */
	PCTL_RECORD_EQUALS = 16u,  /* a list behind " = ", not " : " */
	PCTL_RECORD_CLOSE = 32u,   /* a list whose bracket closes on a line of its own */
	PCTL_RECORD_FOLLOWS = 64u, /* a list whose first item stands behind the bracket */
	PCTL_RECORD_CUT = 128u,	   /* CHARS: longer texts are cut */
	PCTL_RECORD_WITHIN = 256u, /* LIST: the items lie in the struct, bound of them */
	PCTL_RECORD_NAMED = 512u,  /* among lines: the key stands before the value */
	PCTL_RECORD_REST = 1024u   /* in a row: all that is left of it, whatever bytes */
};

/* How the fields of a group or of a list's item stand. */
enum {
	PCTL_RECORD_BLOCK = 0, /* { on lines of their own } */
	PCTL_RECORD_INLINE,    /* { on; one; line; } */
	PCTL_RECORD_ARRAY,     /* [ "values", "alone" ] */
	PCTL_RECORD_SPLIT,     /* [ "the", "parts" ] of one TEXT, which has tabs between them */
	PCTL_RECORD_ALONE,     /* "the value of the one field" */
	PCTL_RECORD_ROW,       /* one line, or a part of one */
	PCTL_RECORD_LINES      /* lines */
};

/* A value that is a text of its own in the file. member: of the field. print: into PCTL_RECORD_CODED_MAX bytes; parse: 0 when
 * the text is none. what: "a CID", for messages and the document. */
typedef struct pctl_record_coding {
	const char *what;
	void (*print)(const void *member, char *out);
	int (*parse)(const char *text, void *member);
} pctl_record_coding;

/* Values by key: those of the struct at the member. remark: a comment behind the i-th, or NULL. */
typedef struct pctl_record_keys {
	const char *what;
	const char *(*name)(uint32_t i);
	void (*print)(const void *member, uint32_t i, char *out);
	int (*parse)(const char *text, uint32_t i, void *member);
	const char *(*remark)(const void *member, uint32_t i);
} pctl_record_keys;

typedef struct pctl_record_shape pctl_record_shape;

/* least: smallest number; of CHARS the fewest bytes. comment: a line before the field. means: for the document. when: in a row
 * an OPTIONAL field without a name is there when the uint32_t at n_at, of a field before it, is the number of one of these bits. */
typedef struct pctl_record_field {
	const char *key;
	uint32_t kind, flags, when;
	size_t at, n_at;
	uint64_t least, bound;
	const pctl_record_shape *of;
	const pctl_record_coding *coding;
	const pctl_record_keys *keys;
	void (*derive)(const void *record, pctl_str_buf *out);
	const char *const *words;
	const char *constant, *comment, *means;
} pctl_record_field;

/* A field of struct T at its member M, and one that is as long as the member (CHARS, HEX); behind them what else is said of
 * it. */
#define PCTL_RECORD_FIELD(KIND, KEY, T, M, ...)                                           \
	{                                                                                 \
		.key = KEY, .kind = PCTL_RECORD_##KIND, .at = offsetof(T, M), __VA_ARGS__ \
	}
#define PCTL_RECORD_SIZED(KIND, KEY, T, M, ...) \
	PCTL_RECORD_FIELD(KIND, KEY, T, M, .bound = sizeof(((T *)0)->M), __VA_ARGS__)

#define PCTL_RECORD_WORDS(WORDS) .words = (WORDS), .bound = sizeof(WORDS) / sizeof((WORDS)[0])

struct pctl_record_shape {
	const pctl_record_field *fields;
	uint32_t n_fields, style;
	size_t size;  /* of the struct */
	char between; /* ROW, LINES: the byte between values, and behind a name */
};
#define PCTL_RECORD_SHAPE(fields, style, T)                                           \
	{                                                                             \
		fields, sizeof(fields) / sizeof((fields)[0]), style, sizeof(T), '\0', \
	}
#define PCTL_RECORD_OF_LINES(fields, style, between, T)                                  \
	{                                                                                \
		fields, sizeof(fields) / sizeof((fields)[0]), style, sizeof(T), between, \
	}

enum { PCTL_RECORD_HEXES = 0, PCTL_RECORD_BLANKS, PCTL_RECORD_PLAIN, PCTL_RECORD_ESCAPES };

/*
 * group        the name of the one group that is the record; NULL for lines
 * opening      comment lines before it; of lines the first ones, which are read, too
 * quoting      what becomes of bytes in texts that are not printable ASCII: \xHH, a blank, or nothing; ESCAPES (lines alone):
 *              tab, line end and backslash become \t, \n and \\
 * form         code of a text that is no such record; its message has the place
 * contradicts  code of one that writing does not give; 0: remarks are not read, so this is not asked
 * title, where for the document: what the record is, and in which file it stands
 */
typedef struct pctl_record_type {
	const char *group, *opening;
	const pctl_record_shape *shape;
	uint32_t quoting, form, contradicts;
	const char *title, *where;
} pctl_record_type;

/* Append the text of a record; of a row without a line end. Lack of memory shows in out->failed. */
void pctl_record_text(const pctl_record_type *t, const void *record, pctl_str_buf *out);

/* Append one member of the record alone, as it stands in the text. */
void pctl_record_member_text(const pctl_record_type *t, const void *record, const char *key,
			     pctl_str_buf *out);

/* Append a text in quotes, as the record has them. */
void pctl_record_quote(const pctl_record_type *t, const char *text, pctl_str_buf *out);

/*
 * Take a record out of text[0..n). Strings and lists go to the arena; the struct is zeroed before. One diagnostic, at the place
 * of the first fault, which says what stands there and what may. Errors: t->form, those of conf, PC0002.
 */
pctl_status pctl_record_read(const pctl_record_type *t, const char *name, const char *text,
			     size_t n, pctl_arena *arena, const pctl_call *call, void *record);

/* Is text[0..n) what writing the record gives: else t->contradicts, at the first line that differs. Apart from reading, because
 * what is derived must be made before. */
pctl_status pctl_record_check(const pctl_record_type *t, const char *name, const char *text,
			      size_t n, const pctl_call *call, const void *record);

/* Read and check at once, for a record of which nothing is derived in between. */
pctl_status pctl_record_read_exact(const pctl_record_type *t, const char *name, const char *text,
				   size_t n, pctl_arena *arena, const pctl_call *call,
				   void *record);

/* pctl_record_text, with lack of memory as a status; what: "a receipt". */
pctl_status pctl_record_put(const pctl_record_type *t, const void *record, pctl_str_buf *out,
			    const char *what, const pctl_call *call);

/* Append the table as a section of FORMATS.md. */
void pctl_record_describe(const pctl_record_type *t, pctl_str_buf *out);

#endif
