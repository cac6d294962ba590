/* The table of the worker protocol, walked: of every shape the extremes arrive as they were sent and every cut is noticed; of
 * every field each value that is out of its bounds is refused; every message and command of the table has its place, and the
 * fuzzer a seed (PIPECTL_BLESS=1 writes them). */
#include "main.h"

#include <stdlib.h>

#include "foundation/base/file.h"
#include "test_ipc_values.h"

#define LARGEST 8192u /* bytes of a structure */

static const pctl_call quiet = {PCTL_HEAD(pctl_call), NULL, NULL, NULL, 0};

typedef struct wire {
	pctl_arena *arena;
	pctl_ipc_out out;
	max_align_t sent[LARGEST / sizeof(max_align_t)], got[LARGEST / sizeof(max_align_t)];
} wire;

static void wire_begin(wire *w)
{
	memset(w, 0, sizeof(*w));
	w->arena = pctl_arena_create();
	assert_non_null(w->arena);
}

static void wire_end(wire *w)
{
	pctl_arena_destroy(w->arena);
	pctl_ipc_out_drop(&w->out);
}

/* A good value in w->sent. */
static void make(wire *w, uint32_t shape, int extreme)
{
	const pctl_ipc_shape *s = pctl_ipc_shape_of(shape);

	assert_true(s->size <= sizeof(w->sent));
	pctl_arena_clear(w->arena);
	memset(w->sent, 0, sizeof(w->sent));
	make_value(s, extreme, w->arena, (uint8_t *)w->sent);
}

static void pack(wire *w, uint32_t shape)
{
	w->out.n = 0;
	pctl_ipc_pack(&w->out, shape, w->sent, number_of);
	assert_false(w->out.failed);
}

/* The first n bytes, as a whole message; what is behind them is not there for address checkers either. */
static int arrives(wire *w, uint32_t shape, size_t n)
{
	const pctl_ipc_scope scope = {w->arena, find_number, NULL};
	uint8_t *copy = malloc(n + (n == 0));
	pctl_ipc_in in = {copy, n, 0, 0};
	int ok;

	assert_non_null(copy);
	memcpy(copy, w->out.data, n);
	ok = pctl_ipc_unpack_all(&in, shape, &scope, w->got);
	if (ok)
		assert_true(same_value(pctl_ipc_shape_of(shape), (const uint8_t *)w->sent,
				       (const uint8_t *)w->got));
	free(copy);
	return ok;
}

static int passes(wire *w, uint32_t shape)
{
	pack(w, shape);
	return arrives(w, shape, w->out.n);
}

static void shapes__extremes_arrive_and_cuts_do_not(void **state)
{
	static wire w;

	(void)state;
	wire_begin(&w);
	for (uint32_t shape = 1; shape < PCTL_IPC_SHAPES; shape++) {
		for (int extreme = LOW; extreme <= HIGH; extreme++) {
			make(&w, shape, extreme);
			if (!passes(&w, shape))
				fail_msg("%s does not arrive", pctl_ipc_shape_of(shape)->name);
			for (size_t n = 0; n < w.out.n; n += 1 + n / 512)
				if (arrives(&w, shape, n))
					fail_msg("%s arrives without its end",
						 pctl_ipc_shape_of(shape)->name);
			pctl_ipc_put(&w.out, "", 1);
			assert_false(arrives(&w, shape, w.out.n));
		}
	}
	wire_end(&w);
}

/* ---- what is refused ----------------------------------------------------------------------- */

typedef struct spoiling {
	wire *w;
	uint32_t shape;
	const pctl_ipc_field *f;
	uint8_t *value, *at;
	uint32_t n_refused;
} spoiling;

/* The value as it was spoiled must not arrive; then it is good again. */
static void refuse(spoiling *p, const char *how)
{
	if (passes(p->w, p->shape))
		fail_msg("%s.%s arrives with %s", pctl_ipc_shape_of(p->shape)->name, p->f->name,
			 how);
	p->n_refused++;
	make(p->w, p->shape, HIGH);
}

static void allow(spoiling *p, const char *how)
{
	if (!passes(p->w, p->shape))
		fail_msg("%s.%s does not arrive with %s", pctl_ipc_shape_of(p->shape)->name,
			 p->f->name, how);
	make(p->w, p->shape, HIGH);
}

static void spoil_number(spoiling *p)
{
	const pctl_ipc_field *f = p->f;
	const int is_u64 = f->kind == PCTL_IPC_KIND_U64;

	if (f->least > 0) {
		is_u64 ? put_u64(p->at, f->least - 1) : put_u32(p->at, f->least - 1);
		refuse(p, "less than the least");
	}
	if (f->most < (is_u64 ? UINT64_MAX : UINT32_MAX)) {
		is_u64 ? put_u64(p->at, f->most + 1) : put_u32(p->at, f->most + 1);
		refuse(p, "more than the most");
	}
}

/* A byte of the text "mark!" on the wire. */
static void spoil_mark(spoiling *p, size_t i, uint8_t byte, const char *how)
{
	size_t k;

	pack(p->w, p->shape);
	for (k = 0; k + 5 <= p->w->out.n && memcmp(p->w->out.data + k, "mark!", 5) != 0; k++)
		;
	assert_true(k + i < p->w->out.n);
	p->w->out.data[k + i] = byte;
	if (arrives(p->w, p->shape, p->w->out.n))
		fail_msg("%s.%s arrives with %s", pctl_ipc_shape_of(p->shape)->name, p->f->name,
			 how);
	p->n_refused++;
}

/* One text at `at`. */
static void spoil_text(spoiling *p, uint8_t *at, uint32_t flags)
{
	static const char *const bad[] = {"\x01", "\x1b[31m", "\x7f",
					  "\xff", "\xc0\x80", "\xed\xa0\x80"};
	char *longest;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put_pointer(at, bad[i]);
		if (flags & PCTL_IPC_WORDS)
			refuse(p, "bytes that are no words");
		else
			allow(p, "any bytes");
	}
	put_pointer(at, NULL);
	if (flags & PCTL_IPC_NEEDED)
		refuse(p, "no text");
	make(p->w, p->shape, HIGH);
	put_pointer(at, "mark!");
	spoil_mark(p, 2, 0, "a NUL inside");
	spoil_mark(p, 5, 'x', "no NUL");
	if (p->f->most == PCTL_IPC_ANY || p->f->kind != PCTL_IPC_KIND_TEXT || flags & PCTL_IPC_CUT)
		return;
	longest = pctl_arena_alloc(p->w->arena, p->f->most + 2);
	memset(longest, 'x', p->f->most + 1);
	put_pointer(at, longest);
	pack(p->w, p->shape);
	assert_false(arrives(p->w, p->shape, p->w->out.n));
	longest[p->f->most] = '\0';
	allow(p, "a text of the largest size");
}

static void spoil_bytes(spoiling *p)
{
	pctl_ipc_bytes bytes = {NULL, p->f->most + 1};
	uint8_t *data;

	if (p->f->most == PCTL_IPC_ANY)
		return;
	data = calloc(1, bytes.n);
	assert_non_null(data);
	bytes.data = data;
	memcpy(p->at, &bytes, sizeof(bytes));
	refuse(p, "too many bytes");
	bytes.n--;
	memcpy(p->at, &bytes, sizeof(bytes));
	allow(p, "as many bytes as there may be");
	free(data);
}

static void spoil_handle(spoiling *p)
{
	static const uint32_t other[] = {10, 16, 99, UINT32_MAX};

	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		put_pointer(p->at, (void *)(uintptr_t)other[i]);
		refuse(p, "an object that was never given");
	}
	put_pointer(p->at, (void *)(uintptr_t)(10 + (p->f->of == 1 ? 2u : 1u)));
	refuse(p, "an object of another kind");
	put_pointer(p->at, NULL);
	if (p->f->least)
		refuse(p, "no object");
	else
		allow(p, "no object");
}

/* As many items as there may be arrive; one more, with its bytes, does not. All items are alike. */
static void spoil_list(spoiling *p)
{
	const uint32_t n = (uint32_t)p->f->most;
	pctl_ipc_out fewer = {0};
	size_t at, n_item;

	make_list(p->f, LOW, n - 1, p->w->arena, p->value);
	pctl_ipc_pack(&fewer, p->shape, p->value, number_of);
	make_list(p->f, LOW, n, p->w->arena, p->value);
	if (!passes(p->w, p->shape))
		fail_msg("%s.%s does not arrive with %u items", pctl_ipc_shape_of(p->shape)->name,
			 p->f->name, n);
	/* The count is what is different first; its lowest byte always is. */
	for (at = 0; fewer.data[at] == p->w->out.data[at]; at++)
		;
	assert_int_equal(u32_of(p->w->out.data + at), n);
	n_item = p->w->out.n - fewer.n;
	fewer.n = 0;
	pctl_ipc_put(&fewer, p->w->out.data, at);
	pctl_ipc_put_u32(&fewer, n + 1);
	pctl_ipc_put(&fewer, p->w->out.data + at + 4, n_item);
	pctl_ipc_put(&fewer, p->w->out.data + at + 4, p->w->out.n - at - 4);
	p->w->out.n = 0;
	pctl_ipc_put(&p->w->out, fewer.data, fewer.n);
	if (arrives(p->w, p->shape, p->w->out.n))
		fail_msg("%s.%s arrives with more than %u items", pctl_ipc_shape_of(p->shape)->name,
			 p->f->name, n);
	p->n_refused++;
	pctl_ipc_out_drop(&fewer);
	make(p->w, p->shape, HIGH);
	/* Who has more sends the count alone. */
	put_u32(p->value + p->f->n_at, n + UINT64_C(1));
	refuse(p, "a count that is too large");
}

static void spoil(spoiling *p)
{
	static const uint32_t not_one[] = {0, 14, 31, 43, 63, 64, 68, 79, 127, 128, UINT32_MAX};
	const pctl_ipc_field *f = p->f;
	uint32_t i;

	make(p->w, p->shape, HIGH);
	switch (f->kind) {
	case PCTL_IPC_KIND_U32:
	case PCTL_IPC_KIND_U64:
	case PCTL_IPC_KIND_NEW:
		spoil_number(p);
		break;
	case PCTL_IPC_KIND_ONE_OF:
		for (i = 0; i < sizeof(not_one) / sizeof(not_one[0]); i++) {
			put_u32(p->at, not_one[i]);
			refuse(p, "none of its values");
		}
		break;
	case PCTL_IPC_KIND_FLAGS:
		for (i = 0; i < 32; i++) {
			put_u32(p->at, 1u << i);
			if (f->most >> i & 1)
				allow(p, "a flag");
			else
				refuse(p, "an unknown flag");
		}
		break;
	case PCTL_IPC_KIND_CHARS:
		memset(p->at, 'x', f->most);
		refuse(p, "chars that do not end");
		memset(p->at, 0, f->most);
		memcpy(p->at, "mark!", 5);
		spoil_mark(p, 2, 0, "a NUL inside");
		break;
	case PCTL_IPC_KIND_TEXT:
		spoil_text(p, p->at, f->of);
		break;
	case PCTL_IPC_KIND_TEXTS:
		for (i = 0; i < f->of; i++) {
			make(p->w, p->shape, HIGH);
			spoil_text(p, p->at + i * sizeof(char *), PCTL_IPC_WORDS);
		}
		break;
	case PCTL_IPC_KIND_BYTES:
		spoil_bytes(p);
		break;
	case PCTL_IPC_KIND_HANDLE:
		spoil_handle(p);
		break;
	case PCTL_IPC_KIND_TEXT_LIST:
		spoil_list(p);
		spoil_text(p, (uint8_t *)(uintptr_t)pointer_of(p->at),
			   PCTL_IPC_NEEDED | PCTL_IPC_WORDS);
		break;
	case PCTL_IPC_KIND_LIST:
	case PCTL_IPC_KIND_NUMBERS:
		spoil_list(p);
		break;
	default:
		break;
	}
}

/* Does every value of the field's bits mean something. */
static int is_open(const pctl_ipc_field *f)
{
	switch (f->kind) {
	case PCTL_IPC_KIND_U32:
		return f->least == 0 && f->most >= UINT32_MAX;
	case PCTL_IPC_KIND_U64:
	case PCTL_IPC_KIND_BYTES:
		return f->least == 0 && f->most == PCTL_IPC_ANY;
	case PCTL_IPC_KIND_U32S:
	case PCTL_IPC_KIND_U64S:
	case PCTL_IPC_KIND_UPTO:
	case PCTL_IPC_KIND_NEST:
	case PCTL_IPC_KIND_HEAD:
		return 1;
	default:
		return 0;
	}
}

static void fields__what_is_out_of_bounds_is_refused(void **state)
{
	uint32_t n_bounded = 0, n_refused = 0;
	static wire w;

	(void)state;
	wire_begin(&w);
	for (uint32_t shape = 1; shape < PCTL_IPC_SHAPES; shape++) {
		const pctl_ipc_shape *s = pctl_ipc_shape_of(shape);

		for (uint32_t i = 0; i < s->n_fields; i++) {
			spoiling p = {&w,
				      shape,
				      &s->fields[i],
				      (uint8_t *)w.sent,
				      (uint8_t *)w.sent + s->fields[i].at,
				      0};

			spoil(&p);
			if (is_open(p.f) != (p.n_refused == 0))
				fail_msg("%s.%s was refused %u times", s->name, p.f->name,
					 p.n_refused);
			n_bounded += !is_open(p.f);
			n_refused += p.n_refused;
		}
	}
	print_message("%u bounded fields, %u values refused\n", n_bounded, n_refused);
	assert_true(n_bounded > 100 && n_refused > 3 * n_bounded);
	wire_end(&w);
}

/* ---- messages ------------------------------------------------------------------------------ */

static void table__every_shape_is_carried(void **state)
{
	uint8_t used[PCTL_IPC_SHAPES] = {1};
	uint32_t n, i, k, n_messages = 0;
	const pctl_ipc_command *commands = pctl_ipc_commands(&n);

	(void)state;
	used[PCTL_IPC_SHAPE_answer] = 1;
	for (i = 0; i < PCTL_IPC_MESSAGES + 10; i++) {
		const pctl_ipc_message *m = pctl_ipc_message_of(i);

		if (!m)
			continue;
		n_messages++;
		used[m->ask] = used[m->reply] = 1;
		/* What a backend may lack is named by a request of backends. */
		assert_true(!m->needs || m->whose == PCTL_IPC_OF_BACKEND);
		assert_true(m->how == PCTL_IPC_IS_ASKED || m->reply == PCTL_IPC_SHAPE_nothing);
	}
	for (i = 0; i < n; i++) {
		used[commands[i].shape] = 1;
		assert_int_equal(pctl_ipc_command_shape(commands[i].number, commands[i].whose),
				 commands[i].shape);
		for (k = 1; k <= PCTL_IPC_IN_PROBLEM; k++)
			if (k != commands[i].whose)
				assert_int_equal(pctl_ipc_command_shape(commands[i].number, k),
						 UINT32_MAX);
	}
	/* Shapes of shapes come after those that they hold. */
	for (i = PCTL_IPC_SHAPES; i-- > 1;)
		for (k = 0; used[i] && k < pctl_ipc_shape_of(i)->n_fields; k++) {
			const pctl_ipc_field *f = &pctl_ipc_shape_of(i)->fields[k];

			if (f->kind == PCTL_IPC_KIND_NEST || f->kind == PCTL_IPC_KIND_LIST)
				used[f->of] = 1;
		}
	for (i = 0; i < PCTL_IPC_SHAPES; i++)
		if (!used[i])
			fail_msg("nothing carries %s", pctl_ipc_shape_of(i)->name);
	assert_int_equal(n_messages, 40);
	assert_int_equal(n, 20);
}

static void table__statuses(void **state)
{
	(void)state;
	assert_true(pctl_ipc_status_known(PCTL_OK) && pctl_ipc_status_known(PCTL_E_INTERNAL));
	assert_false(pctl_ipc_status_known(7) || pctl_ipc_status_known(-1) ||
		     pctl_ipc_status_known(34) || pctl_ipc_status_known(49));
}

/* ---- seeds of the fuzzer ------------------------------------------------------------------- */

/* mode and number: see fuzz_ipc.c. */
static void seed(wire *w, const char *what, const char *name, uint8_t mode, uint8_t number,
		 const uint32_t *before, uint32_t n_before, uint32_t shape)
{
	pctl_ipc_out o = {0};
	char path[512], *is;
	uint64_t n;

	snprintf(path, sizeof(path), PIPECTL_SOURCE_DIR "/tests/fuzz/corpus/ipc/%s-%s", what, name);
	pctl_ipc_put(&o, &mode, 1);
	pctl_ipc_put(&o, &number, 1);
	pctl_ipc_put(&o, before, n_before * sizeof(*before));
	if (shape != PCTL_IPC_SHAPE_nothing) {
		make(w, shape, HIGH);
		pctl_ipc_pack(&o, shape, w->sent, number_of);
	}
	if (getenv("PIPECTL_BLESS") != NULL)
		assert_int_equal(pctl_file_write(path, o.data, o.n, 0, &quiet), PCTL_OK);
	if (pctl_file_read(path, 1u << 20, &quiet, &is, &n) != PCTL_OK || n != o.n ||
	    memcmp(is, o.data, n) != 0)
		fail_msg("%s is not what PIPECTL_BLESS=1 makes", path);
	free(is);
	pctl_ipc_out_drop(&o);
}

static void table__the_fuzzer_has_a_seed_of_every_row(void **state)
{
	static const uint32_t well[2] = {PCTL_OK, 0};
	const pctl_ipc_command *commands;
	uint32_t i, n;
	static wire w;

	(void)state;
	wire_begin(&w);
	for (i = 0; i < PCTL_IPC_MESSAGES; i++) {
		const pctl_ipc_message *m = pctl_ipc_message_of(i);

		if (!m)
			continue;
		if (m->how == PCTL_IPC_IS_TOLD)
			seed(&w, "told", m->name, 4, (uint8_t)i, NULL, 0, m->ask);
		else
			seed(&w, "request", m->name, 1, (uint8_t)i, NULL, 0, m->ask);
		if (m->how == PCTL_IPC_IS_ASKED)
			seed(&w, "reply", m->name, 2, (uint8_t)i, well, 2, m->reply);
	}
	seed(&w, "reply", "refusal", 2, PCTL_IPC_LIST_END, NULL, 0, PCTL_IPC_SHAPE_answer);
	commands = pctl_ipc_commands(&n);
	for (i = 0; i < n; i++) {
		const uint32_t number = commands[i].number;

		seed(&w, "command", commands[i].NAME, 3, (uint8_t)commands[i].whose, &number, 1,
		     commands[i].shape);
	}
	wire_end(&w);
}

PCTL_TESTS_MAIN(PCTL_TEST(shapes__extremes_arrive_and_cuts_do_not),
		PCTL_TEST(fields__what_is_out_of_bounds_is_refused),
		PCTL_TEST(table__every_shape_is_carried), PCTL_TEST(table__statuses),
		PCTL_TEST(table__the_fuzzer_has_a_seed_of_every_row))
