/* The script of a mock device: pieces joined by ',' or '+', each `wrap=..` (the host's business) or a fault. README.md
 * explains them to users. */
#ifndef PCTL_MOCK_SCRIPT_H
#define PCTL_MOCK_SCRIPT_H

#include "pipectl/host.h"

#define MOCK_FAULTS_MAX 32u
#define MOCK_ANY 0xffffffffu

enum {
	MOCK_FLIP_BIT,
	MOCK_LANE,
	MOCK_CONTRACT,
	MOCK_FLUSH,
	MOCK_COEFFICIENT,
	MOCK_TREE,
	MOCK_NAN,
	MOCK_TURNS,
	MOCK_NEST,
	MOCK_ELEMENT,
	MOCK_ASTRAY,
	MOCK_SHIFT,
	MOCK_DOT4,
	MOCK_UNSET,
	MOCK_LANES,
	MOCK_BALLOT,
	MOCK_SINGLE,
	MOCK_TURNED,
	MOCK_UNSUMMED,
	MOCK_REVERSED,
	MOCK_ARRAY,
	MOCK_TABLE,
	MOCK_LONG,
	MOCK_EXPLODE,
	MOCK_BRITTLE,
	MOCK_STUCK,
	MOCK_DRIFT,
	MOCK_CRASH,
	MOCK_HANG,
	MOCK_LOST,
	MOCK_SLOW,
	MOCK_WAITS,
	MOCK_STALE,
	MOCK_ZERO,
	MOCK_RACY,
	MOCK_WRITE_DROP,
	MOCK_READ_UNTOUCHED,
	MOCK_READ_TWICE,
	MOCK_WRITE_INPUT,
	MOCK_NO_DISPATCH,
	MOCK_WRITE_PAST,
	MOCK_WRITE_BEFORE,
	MOCK_HONEST_ZONES,
	MOCK_HONEST_PLAIN,
	MOCK_CLOCK_ZERO,
	MOCK_CLOCK_BACK,
	MOCK_CLOCK_HUGE,
	MOCK_NARROW,
	MOCK_GPU,
	MOCK_PACKED,
	MOCK_TILES,
	MOCK_N_FAULTS
};

enum { MOCK_NO_TARGET, MOCK_AT_SUBMIT, MOCK_AT_JOB };

/*
 * One fault.
 *
 * late     only in work for a job
 * submit   MOCK_AT_SUBMIT: number of the submit, from 1
 * job, round, step  MOCK_AT_JOB: pctl_trace_job of its name; MOCK_ANY; 0 is the end of the round
 * value    what stands behind '=': lanes, milliseconds, number of a constant or of waits
 * repeat   only the time of this number, from 1; 0: always
 * seen, last_step  while it runs: times it came up so far; the last step of rounds that were seen whole
 */
typedef struct mock_fault {
	uint32_t kind;
	uint32_t late;
	uint32_t target;
	uint32_t job, round, step;
	uint64_t submit;
	uint64_t value;
	uint64_t element;
	uint64_t repeat;
	uint64_t seen;
	uint32_t last_step;
	uint32_t bit;
	uint32_t has_binding, group, binding;
} mock_fault;

typedef struct mock_script {
	mock_fault faults[MOCK_FAULTS_MAX];
	uint32_t n;
	uint32_t mutates; /* some fault rewrites programs */
} mock_script;

/* Read `text` (NULL: empty). PC3280 with the character where it stops making sense and what there is. */
pctl_status mock_script_parse(const char *text, const pctl_call *call, mock_script *out);
/* 1 for the faults that rewrite programs. */
int mock_is_mutation(const mock_fault *f);

#endif
