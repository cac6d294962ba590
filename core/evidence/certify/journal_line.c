/* The table of a journal's lines: which values stand there is told by the first word. */
#include "evidence/certify/journal_private.h"

typedef pctl_journal_line line;

static const char *const words[] = {"ran", "failed", "not-run", "shapes", "late"};

static const pctl_record_field block_fields[] = {
	PCTL_RECORD_FIELD(U64, "cases", pctl_block, cases, .means = "judged"),
	PCTL_RECORD_FIELD(U64, "failures", pctl_block, failures, .means = "of those, that failed"),
	PCTL_RECORD_FIELD(U64, "skipped", pctl_block, skipped, .means = "not judged"),
	PCTL_RECORD_SIZED(HEX, "digest", pctl_block, digest, .means = "of what it gave"),
	PCTL_RECORD_SIZED(CHARS, "value", pctl_block, value, .means = "of a unit that measures")};
static const pctl_record_shape block =
	PCTL_RECORD_OF_LINES(block_fields, PCTL_RECORD_ROW, '\t', pctl_block);

#define CHARS(M, MEANS) PCTL_RECORD_SIZED(CHARS, #M, pctl_counterexample, M, .means = MEANS)
static const pctl_record_field first_fields[] = {
	CHARS(inputs, "of the first counterexample"), CHARS(got, "what the device gave"),
	CHARS(want, "what is right"), CHARS(law, "the equation or the invariant"),
	PCTL_RECORD_FIELD(U32, "minimal", pctl_counterexample, minimal, .bound = 1,
			  .means = "1: no smaller input of its neighbourhood fails")};
static const pctl_record_shape first =
	PCTL_RECORD_OF_LINES(first_fields, PCTL_RECORD_ROW, '\t', pctl_counterexample);

#define RAN (1u << PCTL_JOURNAL_RAN)
#define FAILED (1u << PCTL_JOURNAL_FAILED)
#define NOT_RUN (1u << PCTL_JOURNAL_NOT_RUN)
#define SHAPES (1u << PCTL_JOURNAL_SHAPES)
#define LATE (1u << PCTL_JOURNAL_LATE)
#define OF(KINDS, MEANS) \
	.flags = PCTL_RECORD_OPTIONAL, .n_at = offsetof(line, kind), .when = KINDS, .means = MEANS
static const pctl_record_field fields[] = {
	PCTL_RECORD_FIELD(WORD, "kind", line, kind, PCTL_RECORD_WORDS(words),
			  .means = "of the line"),
	PCTL_RECORD_FIELD(U64, "number", line, entry.number,
			  OF(RAN | FAILED | NOT_RUN, "of the block")),
	PCTL_RECORD_FIELD(GROUP, "block", line, entry.block, .of = &block,
			  OF(RAN | FAILED, "what came of it")),
	PCTL_RECORD_FIELD(GROUP, "first", line, entry.block.first, .of = &first,
			  OF(FAILED, "the first counterexample")),
	PCTL_RECORD_SIZED(CHARS, "cause", line, entry.cause, OF(NOT_RUN, "why it was not run")),
	PCTL_RECORD_SIZED(CHARS, "seed", line, seed,
			  OF(SHAPES, "of the shapes of the blocks behind it")),
	PCTL_RECORD_FIELD(TEXT, "name", line, name, OF(LATE, "of a library that was mapped late")),
	PCTL_RECORD_FIELD(TEXT, "sha256", line, sha256, OF(LATE, "of it"))};
static const pctl_record_shape shape = PCTL_RECORD_OF_LINES(fields, PCTL_RECORD_ROW, '\t', line);
const pctl_record_type pctl_journal_line_type = {
	.opening = "",
	.shape = &shape,
	.quoting = PCTL_RECORD_BLANKS,
	.form = PC5513_JOURNAL_DAMAGED,
	.contradicts = PC5513_JOURNAL_DAMAGED,
	.title = "Line of a journal",
	.where = "`shard-I-of-N.journal`, behind the head of the proof, `shard` and `begin` with "
		 "the "
		 "digest of what is before; the line ends with its checksum",
};
