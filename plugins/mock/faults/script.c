/* Reading the script; see script.h. One table says what each fault takes. */
#include "faults/script.h"

#include <stdlib.h>
#include <string.h>

enum {
	TAKES_TARGET = 1,
	NEEDS_TARGET = 2,
	TAKES_VALUE = 4,
	TAKES_LATE = 8,
	TAKES_PLACE = 16,
	IS_MUTATION = 32
};

static const struct {
	const char *name;
	uint32_t takes;
	uint32_t fallback; /* of the value */
} kinds[MOCK_N_FAULTS] = {
	[MOCK_FLIP_BIT] = {"flip-bit", TAKES_TARGET | NEEDS_TARGET | TAKES_PLACE, 0},
	[MOCK_LANE] = {"lane", TAKES_VALUE | TAKES_LATE, 1000000},
	[MOCK_CONTRACT] = {"contract", TAKES_LATE | IS_MUTATION, 0},
	[MOCK_FLUSH] = {"flush", TAKES_LATE | IS_MUTATION, 0},
	[MOCK_COEFFICIENT] = {"coefficient", TAKES_VALUE | TAKES_LATE | IS_MUTATION, 1},
	[MOCK_TREE] = {"tree", TAKES_LATE | IS_MUTATION, 0},
	[MOCK_NAN] = {"nan", TAKES_LATE | IS_MUTATION, 0},
	[MOCK_TURNS] = {"turns", TAKES_VALUE | TAKES_LATE | IS_MUTATION, 65535},
	[MOCK_NEST] = {"nest", TAKES_VALUE | TAKES_LATE | IS_MUTATION, 80},
	[MOCK_ELEMENT] = {"element", TAKES_LATE | IS_MUTATION, 0},
	[MOCK_ASTRAY] = {"astray", TAKES_LATE | IS_MUTATION, 0},
	[MOCK_SHIFT] = {"shift", TAKES_LATE | IS_MUTATION, 0},
	[MOCK_DOT4] = {"dot4", TAKES_LATE | IS_MUTATION, 0},
	[MOCK_UNSET] = {"unset", TAKES_LATE | IS_MUTATION, 0},
	[MOCK_LANES] = {"lanes", TAKES_LATE | IS_MUTATION, 0},
	[MOCK_BALLOT] = {"ballot", TAKES_LATE | IS_MUTATION, 0},
	[MOCK_SINGLE] = {"single", TAKES_LATE | IS_MUTATION, 0},
	[MOCK_TURNED] = {"turned", TAKES_LATE | IS_MUTATION, 0},
	[MOCK_UNSUMMED] = {"unsummed", TAKES_LATE | IS_MUTATION, 0},
	[MOCK_REVERSED] = {"reversed", TAKES_LATE | IS_MUTATION, 0},
	[MOCK_ARRAY] = {"array", TAKES_VALUE | TAKES_LATE | IS_MUTATION, 1024},
	[MOCK_TABLE] = {"table", TAKES_VALUE | TAKES_LATE | IS_MUTATION, 1024},
	[MOCK_LONG] = {"long", TAKES_VALUE | TAKES_LATE | IS_MUTATION, 4096},
	[MOCK_EXPLODE] = {"explode", TAKES_VALUE | TAKES_LATE, 100},
	[MOCK_BRITTLE] = {"brittle", 0, 0},
	[MOCK_STUCK] = {"stuck", 0, 0},
	[MOCK_DRIFT] = {"drift", 0, 0},
	[MOCK_CRASH] = {"crash", TAKES_TARGET, 0},
	[MOCK_HANG] = {"hang", TAKES_TARGET, 0},
	[MOCK_LOST] = {"lost", TAKES_TARGET, 0},
	[MOCK_SLOW] = {"slow", TAKES_VALUE | TAKES_TARGET | TAKES_LATE, 200},
	[MOCK_WAITS] = {"waits", TAKES_VALUE | TAKES_TARGET | TAKES_LATE, 1},
	[MOCK_STALE] = {"stale", TAKES_LATE, 0},
	[MOCK_ZERO] = {"zero", TAKES_LATE, 0},
	[MOCK_RACY] = {"racy", TAKES_LATE, 0},
	[MOCK_WRITE_DROP] = {"write-drop", 0, 0},
	[MOCK_READ_UNTOUCHED] = {"read-untouched", 0, 0},
	[MOCK_READ_TWICE] = {"read-twice", 0, 0},
	[MOCK_WRITE_INPUT] = {"write-input", TAKES_LATE, 0},
	[MOCK_NO_DISPATCH] = {"no-dispatch", TAKES_LATE, 0},
	[MOCK_WRITE_PAST] = {"write-past", TAKES_LATE, 0},
	[MOCK_WRITE_BEFORE] = {"write-before", TAKES_LATE, 0},
	[MOCK_HONEST_ZONES] = {"honest-behind-zones", TAKES_LATE, 0},
	[MOCK_HONEST_PLAIN] = {"honest-when-plain", TAKES_LATE, 0},
	[MOCK_CLOCK_ZERO] = {"clock-zero", 0, 0},
	[MOCK_CLOCK_BACK] = {"clock-back", 0, 0},
	[MOCK_CLOCK_HUGE] = {"clock-huge", 0, 0},
	[MOCK_NARROW] = {"narrow", TAKES_VALUE, 1u << 20},
	[MOCK_GPU] = {"gpu", 0, 0},
	[MOCK_PACKED] = {"packed", 0, 0},
	[MOCK_TILES] = {"tiles", 0, 0},
};

static const char what_there_is[] =
	"there are: wrap=BACKEND[:DEVICE], flip-bit@JOB[/ROUND[.STEP]] or @N "
	"[:element=E][:bit=B][:binding=G.B][:repeat=R], lane[=N], contract, flush, "
	"coefficient[=K], tree, nan, turns[=N], nest[=N], element, astray, shift, dot4, unset, "
	"lanes, "
	"ballot, "
	"single, turned, unsummed, reversed, "
	"array[=N], table[=N], "
	"long[=N], explode[=N], brittle, stuck, drift, "
	"crash[@N], hang[@N], lost[@N], slow[=MS], waits[=N], stale, zero, racy, write-drop, "
	"read-untouched, read-twice, write-input, no-dispatch, "
	"write-past, write-before, honest-behind-zones, honest-when-plain, clock-zero, "
	"clock-back, clock-huge, narrow[=N], gpu, packed, tiles; late- before those "
	"without a target";

typedef struct reader {
	const char *text, *at;
	const pctl_call *call;
} reader;

static pctl_status refuse(const reader *r, const char *at, const char *what)
{
	const uint32_t column = (uint32_t)(at - r->text) + 1;
	const size_t n = strcspn(at, ",+");
	const pctl_pos pos = {.file = "mock script", .line = 1, .column = column};

	return pctl_refuse_at(r->call, PC3280_MOCK_SCRIPT, &pos, what_there_is,
			      "character %u of the script \"%s\": %s, here \"%.*s\"", column,
			      r->text, what, (int)(n < 80 ? n : 80), at);
}

static int is_end(char c)
{
	return c == '\0' || c == ',' || c == '+';
}

static int skip(reader *r, const char *word)
{
	const size_t n = strlen(word);

	if (strncmp(r->at, word, n) != 0)
		return 0;
	r->at += n;
	return 1;
}

/* A number of at most 18 digits. */
static int number(reader *r, uint64_t *out)
{
	const size_t n = strspn(r->at, "0123456789");

	*out = 0;
	if (n == 0 || n > 18)
		return 0;
	for (size_t i = 0; i < n; i++)
		*out = *out * 10 + (uint64_t)(r->at[i] - '0');
	r->at += n;
	return 1;
}

/* N, or JOB[/ROUND[.STEP]]. */
static pctl_status target(reader *r, mock_fault *f)
{
	const size_t n = strcspn(r->at, "/:=,+@");
	const char *begin = r->at;
	char job[128];
	uint64_t v;

	if (n == 0 || n >= sizeof(job))
		return refuse(r, begin, "@ wants the number of a submit or the name of a job");
	if (strspn(begin, "0123456789") == n) {
		f->target = MOCK_AT_SUBMIT;
		if (!number(r, &f->submit) || f->submit == 0)
			return refuse(r, begin, "submits are counted from 1");
		return PCTL_OK;
	}
	memcpy(job, begin, n);
	job[n] = '\0';
	r->at += n;
	f->target = MOCK_AT_JOB;
	f->job = pctl_trace_job(job);
	f->round = MOCK_ANY;
	if (!skip(r, "/"))
		return PCTL_OK;
	if (!skip(r, "*")) {
		begin = r->at;
		if (!number(r, &v) || v > PCTL_TRACE_ROUND_MAX)
			return refuse(r, begin, "/ wants the number of a round, or *");
		f->round = (uint32_t)v;
	}
	if (!skip(r, "."))
		return PCTL_OK;
	begin = r->at;
	if (!number(r, &v) || v == 0 || v > 0xffff)
		return refuse(r, begin, ". wants the number of a step, from 1");
	f->step = (uint32_t)v;
	return PCTL_OK;
}

static pctl_status place(reader *r, mock_fault *f)
{
	const char *begin = r->at;
	uint64_t v, w;

	if (skip(r, "element=")) {
		if (number(r, &f->element))
			return PCTL_OK;
	} else if (skip(r, "bit=")) {
		if (number(r, &v) && v < 32) {
			f->bit = (uint32_t)v;
			return PCTL_OK;
		}
	} else if (skip(r, "binding=")) {
		if (number(r, &v) && skip(r, ".") && number(r, &w) && v < MOCK_ANY &&
		    w < MOCK_ANY) {
			f->has_binding = 1;
			f->group = (uint32_t)v;
			f->binding = (uint32_t)w;
			return PCTL_OK;
		}
	} else if (skip(r, "repeat=")) {
		if (number(r, &f->repeat) && f->repeat != 0)
			return PCTL_OK;
	}
	return refuse(r, begin, ": wants element=E, bit=0..31, binding=G.B or repeat=1..");
}

static uint32_t kind_at(const char *at)
{
	const size_t n = strcspn(at, "@=:,+");
	uint32_t k = 0;

	while (k < MOCK_N_FAULTS && (strlen(kinds[k].name) != n || strncmp(kinds[k].name, at, n)))
		k++;
	return k;
}

static pctl_status fault(reader *r, mock_fault *f)
{
	const char *begin = r->at;
	pctl_status s = PCTL_OK;
	uint32_t takes;

	f->late = (uint32_t)skip(r, "late-");
	f->kind = kind_at(r->at);
	if (f->kind == MOCK_N_FAULTS)
		return refuse(r, begin, "there is no such fault");
	takes = kinds[f->kind].takes;
	f->value = kinds[f->kind].fallback;
	if (f->late && !(takes & TAKES_LATE))
		return refuse(r, begin, "this fault cannot be late: it has a target");
	r->at += strlen(kinds[f->kind].name);
	if (takes & TAKES_VALUE && skip(r, "=")) {
		begin = r->at;
		if (!number(r, &f->value) || f->value == 0)
			return refuse(r, begin, "= wants a number from 1");
	}
	if (takes & TAKES_TARGET && skip(r, "@"))
		s = target(r, f);
	else if (takes & NEEDS_TARGET)
		return refuse(r, r->at, "this fault wants a target behind @");
	while (s == PCTL_OK && takes & TAKES_PLACE && skip(r, ":"))
		s = place(r, f);
	if (s == PCTL_OK && !is_end(*r->at))
		return refuse(r, r->at, "this does not belong to the fault before it");
	/* "crash" alone is the first submit. */
	if (f->target == MOCK_NO_TARGET && takes & TAKES_TARGET && !(takes & TAKES_VALUE)) {
		f->target = MOCK_AT_SUBMIT;
		f->submit = 1;
	}
	return s;
}

int mock_is_mutation(const mock_fault *f)
{
	return (kinds[f->kind].takes & IS_MUTATION) != 0;
}

pctl_status mock_script_parse(const char *text, const pctl_call *call, mock_script *out)
{
	reader r = {text ? text : "", text ? text : "", call};
	pctl_status s = PCTL_OK;

	memset(out, 0, sizeof(*out));
	while (s == PCTL_OK && *r.at) {
		if (skip(&r, "wrap=")) {
			if (is_end(*r.at))
				return refuse(&r, r.at, "wrap= wants a backend");
			r.at += strcspn(r.at, ",+");
		} else if (out->n == MOCK_FAULTS_MAX) {
			return refuse(&r, r.at, "a script has at most 32 faults");
		} else {
			s = fault(&r, &out->faults[out->n]);
			out->mutates |=
				s == PCTL_OK && (uint32_t)mock_is_mutation(&out->faults[out->n]);
			out->n++;
		}
		if (s == PCTL_OK && *r.at) {
			r.at++;
			if (is_end(*r.at))
				return refuse(&r, r.at, "a separator is followed by nothing");
		}
	}
	return s;
}
