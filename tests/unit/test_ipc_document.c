/* core/runtime/ipc/PROTOCOL.md is what the table of the worker protocol says (PIPECTL_BLESS=1 writes it). */
#include "main.h"

#include <inttypes.h>
#include <stdlib.h>

#include "foundation/base/file.h"
#include "foundation/base/str.h"
#include "runtime/ipc/protocol.h"

static const pctl_call quiet = {PCTL_HEAD(pctl_call), NULL, NULL, NULL, 0};

static void bounds(pctl_str_buf *out, const pctl_ipc_field *f, uint64_t any)
{
	if (f->least == f->most)
		pctl_str_addf(out, ", %" PRIu64, f->most);
	else if (f->least > 0)
		pctl_str_addf(out, " from %" PRIu64, f->least);
	if (f->most < any && f->least != f->most)
		pctl_str_addf(out, " to %" PRIu64, f->most);
}

static void text(pctl_str_buf *out, const pctl_ipc_field *f)
{
	pctl_str_add(out, f->of & PCTL_IPC_WORDS ? "words" : "text");
	if (f->most != PCTL_IPC_ANY)
		pctl_str_addf(out, " of at most %" PRIu64 " bytes%s", f->most,
			      f->of & PCTL_IPC_CUT ? ", cut when longer" : "");
	if (f->of & PCTL_IPC_EMPTY)
		pctl_str_add(out, ", none is empty");
	else if (!(f->of & PCTL_IPC_NEEDED))
		pctl_str_add(out, ", or none");
}

static void kind(pctl_str_buf *out, const pctl_ipc_field *f)
{
	static const char *const objects[] = {"", "device", "buffer", "kernel", "list"};
	int begun = 0;

	switch (f->kind) {
	case PCTL_IPC_KIND_U32:
		pctl_str_add(out, "u32");
		bounds(out, f, UINT32_MAX);
		break;
	case PCTL_IPC_KIND_U64:
		pctl_str_add(out, "u64");
		bounds(out, f, UINT64_MAX);
		break;
	case PCTL_IPC_KIND_ONE_OF:
		pctl_str_add(out, "u32, one of ");
		for (uint32_t i = 0; i < 128; i++)
			if ((i < 64 ? f->most : f->least) >> i % 64 & 1) {
				pctl_str_addf(out, "%s%u", begun ? ", " : "", i);
				begun = 1;
			}
		break;
	case PCTL_IPC_KIND_FLAGS:
		pctl_str_addf(out, "flags of 0x%" PRIx64, f->most);
		break;
	case PCTL_IPC_KIND_U32S:
		pctl_str_addf(out, "%u u32", f->of);
		break;
	case PCTL_IPC_KIND_U64S:
		pctl_str_addf(out, "%u u64", f->of);
		break;
	case PCTL_IPC_KIND_UPTO:
		pctl_str_addf(out, "that many u64, at most %" PRIu64, f->most);
		break;
	case PCTL_IPC_KIND_CHARS:
		pctl_str_addf(out, "chars, at most %" PRIu64, f->most - 1);
		break;
	case PCTL_IPC_KIND_TEXT:
		text(out, f);
		break;
	case PCTL_IPC_KIND_TEXTS:
		pctl_str_addf(out, "%u times words, or none", f->of);
		break;
	case PCTL_IPC_KIND_TEXT_LIST:
		pctl_str_addf(out, "list of words, at most %" PRIu64, f->most);
		break;
	case PCTL_IPC_KIND_BYTES:
		pctl_str_add(out, "bytes");
		if (f->most != PCTL_IPC_ANY)
			pctl_str_addf(out, ", at most %" PRIu64, f->most);
		break;
	case PCTL_IPC_KIND_NUMBERS:
		pctl_str_addf(out, "list of u32, at most %" PRIu64, f->most);
		break;
	case PCTL_IPC_KIND_HANDLE:
		pctl_str_addf(out, "a %s%s", objects[f->of], f->least ? "" : ", or none");
		break;
	case PCTL_IPC_KIND_NEW:
		pctl_str_addf(out, "number for a new %s, %" PRIu64 " to %" PRIu64, objects[f->of],
			      f->least, f->most);
		break;
	case PCTL_IPC_KIND_NEST:
		pctl_str_addf(out, "`%s`", pctl_ipc_shape_of(f->of)->name);
		break;
	case PCTL_IPC_KIND_LIST:
		pctl_str_addf(out, "list of `%s`, at most %" PRIu64, pctl_ipc_shape_of(f->of)->name,
			      f->most);
		break;
	default:
		fail_msg("%s: a kind without words", f->name);
	}
}

static const char *shape(uint32_t i)
{
	static char name[2][64];
	static int turn;

	if (i == PCTL_IPC_SHAPE_nothing)
		return "";
	turn = !turn;
	snprintf(name[turn], sizeof(name[turn]), "`%s`", pctl_ipc_shape_of(i)->name);
	return name[turn];
}

static const char *whose(const pctl_ipc_message *m)
{
	switch (m->whose) {
	case PCTL_IPC_OF_BACKEND:
		return m->needs == PCTL_IPC_HAS_CACHE	   ? "of a backend that has kernel_cache"
		       : m->needs == PCTL_IPC_HAS_FINDINGS ? "of a backend that has findings"
		       : m->needs == PCTL_IPC_HAS_COUNTS   ? "of a backend that has counts"
		       : m->needs == PCTL_IPC_HAS_SOURCE   ? "of a backend that has kernel_source"
							   : "of a backend";
	case PCTL_IPC_OF_OPS:
		return "of an op library";
	case PCTL_IPC_OF_FIRST:
		return "first, once";
	default:
		return "always";
	}
}

static void messages(pctl_str_buf *out)
{
	static const char *const patience[] = {"a call", "a build", "its own"};

	pctl_str_add(
		out,
		"## Requests\n\nFrom the host. A posted one has no reply; every other has exactly "
		"one, "
		"with its number and sequence, an `answer` and, where the status is 0, the shape "
		"named here.\n\n| number | name | when | asks | reply | time | meaning |\n"
		"|---|---|---|---|---|---|---|\n");
	for (uint32_t i = 0; i < PCTL_IPC_MESSAGES; i++) {
		const pctl_ipc_message *m = pctl_ipc_message_of(i);

		if (!m || m->how == PCTL_IPC_IS_TOLD)
			continue;
		pctl_str_addf(out, "| %u | %s | %s | %s%s |", i, m->NAME, whose(m), shape(m->ask),
			      m->fds ? " and shared memory" : "");
		if (m->how == PCTL_IPC_IS_POSTED)
			pctl_str_add(out, " posted | |");
		else
			pctl_str_addf(out, " %s | %s |", shape(m->reply), patience[m->patience]);
		pctl_str_addf(out, " %s |\n", m->means);
	}
	pctl_str_add(out, "\n## What a probe tells\n\nFrom `pipectl-worker --probe`.\n\n"
			  "| number | name | carries | meaning |\n|---|---|---|---|\n");
	for (uint32_t i = 0; i < PCTL_IPC_MESSAGES; i++) {
		const pctl_ipc_message *m = pctl_ipc_message_of(i);

		if (m && m->how == PCTL_IPC_IS_TOLD)
			pctl_str_addf(out, "| %u | %s | %s | %s |\n", i, m->NAME, shape(m->ask),
				      m->means);
	}
}

static void commands(pctl_str_buf *out)
{
	static const char *const sinks[] = {"", "plan", "law", "problem"};
	uint32_t n;
	const pctl_ipc_command *rows = pctl_ipc_commands(&n);

	pctl_str_add(out,
		     "\n## Commands of recordings\n\nEach is its number (u32) and its shape.\n\n"
		     "| number | name | of a | shape | meaning |\n|---|---|---|---|---|\n");
	for (uint32_t i = 0; i < n; i++)
		pctl_str_addf(out, "| %u | %s | %s | %s | %s |\n", rows[i].number, rows[i].NAME,
			      sinks[rows[i].whose], shape(rows[i].shape), rows[i].means);
}

static void shapes(pctl_str_buf *out)
{
	pctl_str_add(out, "\n## Shapes\n\nFields lie one behind the other, without padding; "
			  "numbers are native.\n");
	for (uint32_t i = 1; i < PCTL_IPC_SHAPES; i++) {
		const pctl_ipc_shape *s = pctl_ipc_shape_of(i);

		pctl_str_addf(out, "\n### %s\n\n%s\n\n| field | kind | meaning |\n|---|---|---|\n",
			      s->name, s->means);
		for (uint32_t k = 0; k < s->n_fields; k++) {
			const pctl_ipc_field *f = &s->fields[k];

			if (f->kind == PCTL_IPC_KIND_HEAD)
				continue;
			pctl_str_addf(out, "| `%s` | ", f->name);
			kind(out, f);
			pctl_str_addf(out, " | %s |\n", f->means);
		}
	}
}

static void document__is_current(void **state)
{
	static const char path[] = PIPECTL_SOURCE_DIR "/core/runtime/ipc/PROTOCOL.md";
	pctl_str_buf out = PCTL_STR_BUF_INIT;
	char *is;
	uint64_t n;

	(void)state;
	pctl_str_addf(
		&out,
		"# What host and worker say to each other\n\nMade from `protocol.def` by "
		"`tests/unit/test_ipc_document.c` (`PIPECTL_BLESS=1`). Version %u; both sides "
		"compare it and a hash of the table at HELLO.\n\n"
		"Text: a u32 that counts the NUL (0: none), and the bytes with it. Words: UTF-8 "
		"without control characters but tab and line ends. Chars: a u32, and as many bytes "
		"without a NUL. Bytes: a u64, and themselves. List: a u32, and its items. An "
		"object "
		"is the number that the host gave it, 0 is none; all of one message are of the "
		"device of the first. A reader refuses the whole message for anything outside "
		"these "
		"bounds and for bytes left over: the worker ends itself, the host gives the worker "
		"up (PC3105, PC3111).\n\n",
		PCTL_IPC_VERSION);
	messages(&out);
	commands(&out);
	shapes(&out);
	assert_false(out.failed);
	if (getenv("PIPECTL_BLESS") != NULL)
		assert_int_equal(pctl_file_write(path, out.data, out.n, 0, &quiet), PCTL_OK);
	assert_int_equal(pctl_file_read(path, 1u << 20, &quiet, &is, &n), PCTL_OK);
	assert_string_equal(out.data, is);
	free(is);
	pctl_str_drop(&out);
}

PCTL_TESTS_MAIN(PCTL_TEST(document__is_current))
