/* Groups of jobs, sets of tensors and state: what a text with them stands for is the text written out, and every way to write one
 * wrong has its code. */
#include "test_graph_fake.h"

#include <unistd.h>

#define HEAD "pipeline : { name = \"p\"; class = \"integer\"; params : { t = 3; }; "
#define DATA "inputs : { d : { type = \"u32[8]\"; }; w : { tensors = \"w.npz\"; }; }; "
#define ADD(id, a, b) \
	"{ id = \"" id "\"; op = \"fake.two@2\"; in : { a = \"" a "\"; b = \"" b "\"; }; }"
#define GROUP(repeat, jobs) "{ id = \"g\"; repeat : { " repeat " }; jobs = ( " jobs " ); }"
#define ROUND "index = \"i\"; start : { x = \"$d\"; }; carry : { x = \"k.a\"; };"
#define JOBS(jobs) "jobs = ( " jobs " ); "
#define OUT "outputs : { y = \"g.x\"; }; };"

static pctl_status read_with(const char *text, const pctl_setting *sets, uint32_t n_sets,
			     pctl_diag_list *l, pctl_pipeline **p, pctl_graph **g)
{
	pctl_kernels *k = pctl_kernels_create(&fake_source);
	pctl_graph_options o = {.sets = sets, .n_sets = n_sets, .ops = &fake_source, .kernels = k};
	const pctl_call *call = pctl_diag_list_call(l);
	pctl_status status;

	*g = NULL;
	if (n_sets == 0) {
		status = pctl_pipeline_read_text("p.cfg", text, strlen(text), call, p);
	} else {
		char path[] = "/tmp/pipectl-group-XXXXXX";
		const int fd = mkstemp(path);

		assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
		close(fd);
		status = pctl_pipeline_read_set(NULL, path, sets, n_sets, call, p);
		unlink(path);
	}
	if (status == PCTL_OK)
		status = pctl_graph_resolve(*p, &o, call, NULL, NULL, g);
	pctl_kernels_destroy(k);
	return status;
}

/* Jobs with their inputs, inputs, outputs, one a line. */
static void spell(const pctl_pipeline *p, const pctl_graph *g, char *out, size_t n)
{
	size_t at = 0;

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const pctl_pipe_job *job = g->nodes[g->order[i]].job;

		at += (size_t)snprintf(out + at, n - at, "%s:", job->id);
		for (uint32_t k = 0; k < job->n_in; k++)
			at += (size_t)snprintf(out + at, n - at, " %s=%s", job->in[k].port,
					       job->in[k].from.text);
		for (uint32_t k = 0; k < job->n_attr; k++)
			at += (size_t)snprintf(out + at, n - at, " %s=%s", job->attr[k].name,
					       job->attr[k].value.text);
		for (uint32_t k = 0; k < job->n_after; k++)
			at += (size_t)snprintf(out + at, n - at, " >%s", job->after[k].job);
		at += (size_t)snprintf(out + at, n - at, "\n");
	}
	for (uint32_t i = 0; i < p->n_inputs; i++)
		at += (size_t)snprintf(out + at, n - at, "in %s %s%s%s\n", p->inputs[i].name,
				       p->inputs[i].is_state ? "state" : "",
				       p->inputs[i].tensor == NULL ? "" : "tensor ",
				       p->inputs[i].tensor == NULL ? "" : p->inputs[i].tensor);
	for (uint32_t i = 0; i < p->n_outputs; i++)
		at += (size_t)snprintf(out + at, n - at, "out %s %s\n", p->outputs[i].port,
				       p->outputs[i].from.text);
	assert_true(at < n);
}

static void stands_for(const char *text, const char *set, const char *want)
{
	static char spelt[8192];
	const pctl_setting sets[] = {{"t", set}};
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_pipeline *p = NULL;
	pctl_graph *g = NULL;
	const pctl_status status = read_with(text, sets, set != NULL, l, &p, &g);

	if (status != PCTL_OK)
		fail_msg("%s", pctl_diag_list_count(l) ? pctl_diag_list_at(l, 0)->message : "?");
	spell(p, g, spelt, sizeof(spelt));
	assert_string_equal(spelt, want);
	pctl_graph_destroy(g);
	pctl_pipeline_destroy(p);
	pctl_diag_list_destroy(l);
}

static void written_out(void **state)
{
	static const char layers[] = HEAD DATA JOBS(ADD("e", "$d", "$d") ", " GROUP(
		"count = \"$t\"; " ROUND,
		ADD("j", "@x", "$w/{i}.{2*i+1}") ", " ADD("k", "j.a", "e.b"))) OUT;

	(void)state;
	stands_for(layers, "2",
		   "e: a=$d b=$d\n"
		   "g.0.j: a=$d b=$w/0.1\ng.0.k: a=g.0.j.a b=e.b\n"
		   "g.1.j: a=g.0.k.a b=$w/1.3\ng.1.k: a=g.1.j.a b=e.b\n"
		   "in d \nin w/0.1 tensor 0.1\nin w/1.3 tensor 1.3\nout y g.1.k.a\n");
	/* Without a turn the group hands on what it started with. */
	stands_for(layers, "0", "e: a=$d b=$d\nin d \nout y $d\n");
	/* Names that change places; a turn that is named; a group that is read before it stands in the file; what runs before. */
	stands_for(HEAD DATA JOBS(ADD("first", "g.x",
				      "g.0.l.y") ", "
						 "{ id = \"g\"; repeat : { count = 2; index = "
						 "\"i\"; start : { x = \"$d\"; z = "
						 "\"$w/s\"; }; carry : { x = \"@z\"; z = \"k.y\"; "
						 "}; }; jobs = ( "
						 "{ id = \"l\"; op = \"fake.plan@1\"; in : { x = "
						 "\"@z\"; }; }, "
						 "{ id = \"k\"; op = \"fake.attr@1\"; in : { x = "
						 "\"@x\"; }; attr : { times = "
						 "\"{i+1}\"; must = true; }; after = [ \"l\" ]; } "
						 "); }") "outputs : { y = \"first.a\"; z = "
							 "\"g.z\"; }; };",
		   NULL,
		   "g.0.l: x=$w/s\ng.0.k: x=$d times=1 must=true >g.0.l\n"
		   "g.1.l: x=g.0.k.y\ng.1.k: x=$w/s times=2 must=true >g.1.l\n"
		   "first: a=g.0.k.y b=g.0.l.y\n"
		   "in d \nin w/s tensor s\nout y first.a\nout z g.1.k.y\n");
	/* A group in a group: both indices, and what is carried outside. */
	stands_for(HEAD DATA JOBS(GROUP(
			   "count = 2; " ROUND,
			   "{ id = \"h\"; repeat : { count = 2; index = \"j\"; start : { v = "
			   "\"@x\"; }; "
			   "carry : { v = \"m.a\"; }; }; jobs = ( " ADD(
				   "m", "@v", "$w/{2*i+j}") " ); }, " ADD("k", "h.v", "h.0.m.b")))
			   OUT,
		   NULL,
		   "g.0.h.0.m: a=$d b=$w/0\ng.0.h.1.m: a=g.0.h.0.m.a b=$w/1\n"
		   "g.0.k: a=g.0.h.1.m.a b=g.0.h.0.m.b\n"
		   "g.1.h.0.m: a=g.0.k.a b=$w/2\ng.1.h.1.m: a=g.1.h.0.m.a b=$w/3\n"
		   "g.1.k: a=g.1.h.1.m.a b=g.1.h.0.m.b\n"
		   "in d \nin w/0 tensor 0\nin w/1 tensor 1\nin w/2 tensor 2\nin w/3 tensor 3\n"
		   "out y g.1.k.a\n");
}

static void states(void **state)
{
	(void)state;
	stands_for(HEAD
		   "inputs : { d : { type = \"u32[8]\"; }; }; state : { s : { type = "
		   "\"u32[8]\"; next = \"k.a\"; }; q : { type = \"u32[8]\"; count = \"$t\"; index "
		   "= \"n\"; next = \"g.{n}.k.b\"; }; }; " JOBS(ADD("k", "$s", "$d") ", " GROUP(
			   "count = \"$t\"; " ROUND, ADD("k", "@x", "$q/{i}"))) OUT,
		   "2",
		   "k: a=$s b=$d\ng.0.k: a=$d b=$q/0\ng.1.k: a=g.0.k.a b=$q/1\n"
		   "in d \nin s state\nin q/0 state\nin q/1 state\n"
		   "out y g.1.k.a\nout s k.a\nout q/0 g.0.k.b\nout q/1 g.1.k.b\n");
}

#define ONE(repeat, jobs) HEAD DATA JOBS(GROUP(repeat, jobs)) OUT
#define K ADD("k", "@x", "$w/{i}")
#define GOOD ONE("count = 2; " ROUND, K)
#define VM(keys) "{ id = \"k\"; in : { a = \"@x\"; }; out : { a = \"u32[8]\"; }; " keys " }"
#define STATED(fields)                                                           \
	HEAD "inputs : { d : { type = \"u32[8]\"; }; }; state : { s : { " fields \
	     " }; }; " JOBS(ADD("k", "$s", "$d")) "outputs : { y = \"k.b\"; }; };"

/* A state that one job reads, and what another one makes of other data. */
#define NEXT(type)                                                                      \
	HEAD "inputs : { d : { type = \"u32[8]\"; }; }; state : { s : { type = \"" type \
	     "\"; next = \"m.a\"; }; }; " JOBS(                                         \
		     ADD("m", "$d", "$d")) "outputs : { y = \"m.b\"; }; };"

/* The code is said where `at` begins in the bad text; once, whatever the number of turns. */
static const struct {
	uint32_t code;
	const char *bad, *at, *good;
} cases[] = {
	{PC4007_GROUP,
	 ONE("count = 2; index = \"i\"; carry : { x = \"k.a\"; };", ADD("k", "$d", "$d")),
	 "x = \"k.a", GOOD},
	{PC4007_GROUP,
	 ONE("count = 2; index = \"i\"; start : { x = \"$d\"; };", ADD("k", "$d", "$d")),
	 "x = \"$d", GOOD},
	{PC4007_GROUP,
	 HEAD DATA JOBS(
		 "{ id = \"g\"; jobs = ( " ADD("k", "$d", "$d") " ); }") "outputs : { y = "
									 "\"g.0.k.a\"; }; };",
	 "{ id = \"g",
	 HEAD DATA JOBS(
		 GROUP("count = 1;", ADD("k", "$d", "$d"))) "outputs : { y = \"g.0.k.a\"; }; };"},
	{PC4007_GROUP,
	 HEAD DATA JOBS("{ id = \"g\"; placement = \"cpu\"; repeat : { count = 2; " ROUND
			" }; jobs = ( " K " ); }") OUT,
	 "placement", GOOD},
	{PC4007_GROUP,
	 HEAD DATA JOBS("{ id = \"k\"; op = \"fake.plan@1\"; in : { x = \"$d\"; }; repeat : { "
			"count = 2; index = "
			"\"i\"; carry : { x = \"y\"; }; }; }") "outputs : { y = \"k.y\"; }; };",
	 "index",
	 HEAD DATA JOBS(
		 "{ id = \"k\"; op = \"fake.plan@1\"; in : { x = \"$d\"; }; repeat : { count = 2; "
		 "carry : { x = \"y\"; }; }; }") "outputs : { y = \"k.y\"; }; };"},
	{PC4007_GROUP, ONE("count = 0; " ROUND, K), "( { id = \"g", GOOD},
	{PC1021_CONF_MISSING_KEY,
	 HEAD DATA JOBS("{ id = \"k\"; op = \"fake.plan@1\"; in : { x = \"$d\"; }; repeat : { "
			"count = 2; }; }") "outputs : { y = \"k.y\"; }; };",
	 "{ count", GOOD},
	{PC1021_CONF_MISSING_KEY,
	 HEAD "inputs : { d : { file = \"a\"; }; }; " JOBS(
		 ADD("k", "$d", "$d")) "outputs : { y = \"k.a\"; }; };",
	 "{ file", GOOD},
	{PC4008_TURN_NUMBER, ONE("count = 2; " ROUND, ADD("k", "@x", "$w/{j}")), "\"$w/{j}", GOOD},
	{PC4008_TURN_NUMBER, ONE("count = 2; " ROUND, ADD("k", "@x", "$w/{i+}")), "\"$w/{i+}",
	 GOOD},
	{PC4008_TURN_NUMBER, ONE("count = 2; " ROUND, ADD("k", "@x", "$w/{i")), "\"$w/{i", GOOD},
	{PC4008_TURN_NUMBER,
	 ONE("count = 2; " ROUND, ADD("k", "@x", "$w/{i*18446744073709551615+i}")), NULL,
	 ONE("count = 2; " ROUND, ADD("k", "@x", "$w/{i*1844674407370955161+i}"))},
	{PC4008_TURN_NUMBER, ONE("count = 2; " ROUND, VM("vm = \"m{j}.vm.cfg\";")), "\"m{j}", GOOD},
	{PC4019_SHADER_FILE, ONE("count = 2; " ROUND, VM("vm = \"m{i}.vm.cfg\";")), "\"m{i}", GOOD},
	{PC4005_JOB_KIND, ONE("count = 2; " ROUND, VM("vm = \"m{i}.vm.cfg\"; entry = \"main\";")),
	 "entry", GOOD},
	{PC4005_JOB_KIND,
	 ONE("count = 2; " ROUND, VM("vm = \"m{i}.vm.cfg\"; op = \"fake.two@2\";")), "{ id = \"k",
	 GOOD},
	{PC4010_REFERENCE_UNKNOWN, ONE("count = 2; " ROUND, ADD("k", "@y", "$w/{i}")), "\"@y",
	 GOOD},
	{PC4010_REFERENCE_UNKNOWN, HEAD DATA JOBS(ADD("k", "@x", "$d")) OUT, "\"@x", GOOD},
	{PC4010_REFERENCE_UNKNOWN, ONE("count = 2; " ROUND, ADD("k", "@x", "$v/{i}")), "\"$v/{i}",
	 GOOD},
	{PC4010_REFERENCE_UNKNOWN, ONE("count = 2; " ROUND, ADD("k", "@x", "$w")), "\"$w", GOOD},
	{PC4010_REFERENCE_UNKNOWN, ONE("count = 2; " ROUND, ADD("k", "m.a", "$w/{i}")), "\"m.a",
	 GOOD},
	{PC4003_REFERENCE_SYNTAX, ONE("count = 2; " ROUND, ADD("k", "@x", "$w/")), "\"$w/\"", GOOD},
	{PC4011_PARAM_UNKNOWN, ONE("count = \"$u\"; " ROUND, K), "\"$u",
	 ONE("count = \"$t\"; " ROUND, K)},
	{PC4117_REPEAT, ONE("count = \"many\"; " ROUND, K), "\"many", GOOD},
	{PC4023_JOBS_MOST, ONE("count = 16385; " ROUND, K), "16385", GOOD},
	{PC4023_JOBS_MOST, ONE("count = 9000; " ROUND, ADD("j", "@x", "$d") ", " K), "{ id = \"j",
	 GOOD},
	{PC4023_JOBS_MOST,
	 ONE("count = \"4000000000\"; " ROUND,
	     "{ id = \"h\"; repeat : { count = 0; }; jobs = ( " K " ); }"),
	 NULL, GOOD},
	{PC4101_CYCLE,
	 HEAD DATA JOBS(
		 "{ id = \"g\"; repeat : { count = 0; start : { x = \"h.x\"; }; carry : { x = "
		 "\"k.a\"; }; }; "
		 "jobs = ( " ADD("k", "$d",
				 "$d") " ); }, { id = \"h\"; repeat : { count = 0; start : { x "
				       "= \"g.x\"; }; carry : { x = \"k.a\"; }; }; jobs = ( " ADD(
					       "k", "$d", "$d") " ); }, " ADD("j", "$d", "$d")) OUT,
	 "\"g.x\"; }; };", GOOD},
	{PC4006_INPUT_SOURCE,
	 HEAD "inputs : { w : { tensors = \"w.npz\"; type = \"u32[8]\"; }; }; " JOBS(
		 ADD("k", "$w/a", "$w/a")) "outputs : { y = \"k.a\"; }; };",
	 "type = ", GOOD},
	{PC4006_INPUT_SOURCE,
	 HEAD "inputs : { d : { type = \"u32[8]\"; types = ( { tensor = \"*\"; type = \"u32[8]\"; "
	      "} ); }; }; " JOBS(ADD("k", "$d", "$d")) "outputs : { y = \"k.a\"; }; };",
	 "types", GOOD},
	{PC4102_EDGE_TYPE,
	 HEAD
	 "inputs : { w : { tensors = \"w.npz\"; types = ( { tensor = \"a*\"; type = \"f32[8]\"; } "
	 "); }; }; " JOBS(ADD("k", "$w/abc", "$w/b")) "outputs : { y = \"k.a\"; }; };",
	 "\"$w/abc",
	 HEAD
	 "inputs : { w : { tensors = \"w.npz\"; types = ( { tensor = \"a*\"; type = \"u32[8]\"; } "
	 "); }; }; " JOBS(ADD("k", "$w/abc", "$w/b")) "outputs : { y = \"k.a\"; }; };"},
	{PC4018_NAME_TWICE,
	 HEAD "inputs : { t : { tensors = \"w.npz\"; }; }; " JOBS(
		 ADD("k", "$t/a", "$t/a")) "outputs : { y = \"k.a\"; }; };",
	 "t : {", GOOD},
	{PC4018_NAME_TWICE,
	 HEAD "inputs : { d : { type = \"u32[8]\"; }; }; state : { d : { type = \"u32[8]\"; next = "
	      "\"k.a\"; }; }; " JOBS(ADD("k", "$d", "$d")) "outputs : { y = \"k.b\"; }; };",
	 NULL, STATED("type = \"u32[8]\"; next = \"k.a\";")},
	{PC4018_NAME_TWICE,
	 HEAD "inputs : { d : { type = \"u32[8]\"; }; }; state : { y : { type = \"u32[8]\"; next = "
	      "\"k.a\"; }; }; " JOBS(ADD("k", "$d", "$y")) "outputs : { y = \"k.b\"; }; };",
	 NULL, STATED("type = \"u32[8]\"; next = \"k.a\";")},
	{PC4024_STATE, NEXT("u32[9]"), "\"m.a\"", NEXT("u32[8]")},
	{PC4024_STATE, NEXT("f32[8]"), "\"m.a\"", NEXT("u32[8]")},
	{PC4024_STATE, NEXT("u32[2,4]"), "\"m.a\"", NEXT("u32[8]")},
	{PC4024_STATE, STATED("type = \"u32[...]\"; next = \"k.a\";"), "\"u32[...]",
	 STATED("type = \"u32[u]\"; next = \"k.a\";")},
	{PC4024_STATE, STATED("type = \"u32[8]\"; index = \"i\"; next = \"k.a\";"), "index",
	 STATED("type = \"u32[8]\"; next = \"k.a\";")},
	{PC4024_STATE,
	 HEAD "inputs : { d : { type = \"u32[8]\"; }; }; state : { s : { type = \"u32[8]\"; count "
	      "= 20000; next = "
	      "\"k.a\"; }; }; " JOBS(ADD("k", "$s/0", "$d")) "outputs : { y = \"k.b\"; }; };",
	 "20000", STATED("type = \"u32[8]\"; next = \"k.a\";")},
};

static uint32_t times_said(const pctl_diag_list *l, uint32_t code, uint32_t *column)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < pctl_diag_list_count(l); i++) {
		const pctl_diag *d = pctl_diag_list_at(l, i);

		if (d->code != code)
			continue;
		n++;
		*column = d->pos.column;
	}
	return n;
}

static void one_case(uint32_t i, int is_bad)
{
	const char *text = is_bad ? cases[i].bad : cases[i].good;
	pctl_diag_list *l = pctl_diag_list_create();
	uint32_t column = 0, n;
	pctl_pipeline *p = NULL;
	pctl_graph *g = NULL;
	const pctl_status status = read_with(text, NULL, 0, l, &p, &g);

	n = times_said(l, cases[i].code, &column);
	if (is_bad && (status == PCTL_OK || n != 1))
		fail_msg("case %u: PC%04u was said %u times, status %d, first PC%04u", i,
			 cases[i].code, n, (int)status,
			 pctl_diag_list_count(l) ? pctl_diag_list_at(l, 0)->code : 0);
	if (!is_bad && (status != PCTL_OK || n != 0))
		fail_msg("the twin of case %u: %s", i,
			 pctl_diag_list_count(l) ? pctl_diag_list_at(l, 0)->message : "?");
	if (is_bad && cases[i].at != NULL) {
		const char *at = strstr(text, cases[i].at);

		assert_non_null(at);
		if (column != (uint32_t)(at - text) + 1 && column != (uint32_t)(at - text) + 2)
			fail_msg("case %u: said at column %u, not %u", i, column,
				 (uint32_t)(at - text) + 1);
	}
	pctl_graph_destroy(g);
	pctl_pipeline_destroy(p);
	pctl_diag_list_destroy(l);
}

static void refused(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		one_case(i, 1);
		one_case(i, 0);
	}
}

/* What is wrong in each turn is said of the first one, which is named; what is wrong in two ways in one turn, twice. */
static void names_the_turn(void **state)
{
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_pipeline *p = NULL;
	pctl_graph *g = NULL;
	int seen = 0;

	(void)state;
	assert_int_not_equal(read_with(ONE("count = 9; " ROUND,
					   ADD("k", "@x", "$w/{i}") ", " ADD("m", "k.q", "k.r")),
				       NULL, 0, l, &p, &g),
			     PCTL_OK);
	assert_int_equal(pctl_diag_list_count(l), 2);
	for (uint32_t i = 0; i < pctl_diag_list_at(l, 0)->n_notes; i++)
		seen |= strstr(pctl_diag_list_at(l, 0)->notes[i].message, "g.0.m") != NULL;
	assert_true(seen);
	pctl_pipeline_destroy(p);
	pctl_diag_list_destroy(l);
}

/* A thousand turns are opened up and checked in time that grows with them. */
static void many(void **state)
{
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_pipeline *p = NULL;
	pctl_graph *g = NULL;

	(void)state;
	assert_int_equal(read_with(ONE("count = 16384; " ROUND, K), NULL, 0, l, &p, &g), PCTL_OK);
	assert_int_equal(g->n_nodes, PCTL_PIPELINE_JOBS_MAX);
	assert_int_equal(p->n_inputs, PCTL_PIPELINE_JOBS_MAX + 1);
	pctl_graph_destroy(g);
	pctl_pipeline_destroy(p);
	pctl_diag_list_destroy(l);
}

PCTL_TESTS_MAIN(PCTL_TEST(written_out), PCTL_TEST(states), PCTL_TEST(refused),
		PCTL_TEST(names_the_turn), PCTL_TEST(many))
