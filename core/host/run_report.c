/* Writing a run's report, and its trace; see run_report.h. */
#include "host/run_report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "foundation/base/folder.h"
#include "foundation/base/json.h"

/* ---- trace.json: one process, a thread for the run and one for each job -------------------------- */

#define PROCESS 1u
#define THREAD_OF_RUN 0u

static void name_event(pctl_json *j, const char *what, uint32_t thread, const char *name)
{
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "name", what);
	pctl_json_kv_string(j, "ph", "M");
	pctl_json_kv_u32(j, "pid", PROCESS);
	pctl_json_kv_u32(j, "tid", thread);
	pctl_json_key(j, "args");
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "name", name);
	pctl_json_object_end(j);
	pctl_json_object_end(j);
}

static void sort_thread(pctl_json *j, uint32_t thread)
{
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "name", "thread_sort_index");
	pctl_json_kv_string(j, "ph", "M");
	pctl_json_kv_u32(j, "pid", PROCESS);
	pctl_json_kv_u32(j, "tid", thread);
	pctl_json_key(j, "args");
	pctl_json_object_begin(j);
	pctl_json_kv_u32(j, "sort_index", thread);
	pctl_json_object_end(j);
	pctl_json_object_end(j);
}

static void begin_event(pctl_json *j, const char *name, uint32_t thread, uint64_t began_ns,
			uint64_t ns)
{
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "name", name);
	pctl_json_kv_string(j, "cat", thread == THREAD_OF_RUN ? "run" : "job");
	pctl_json_kv_string(j, "ph", "X");
	pctl_json_kv_u32(j, "pid", PROCESS);
	pctl_json_kv_u32(j, "tid", thread);
	pctl_json_key(j, "ts");
	pctl_json_double(j, (double)began_ns / 1000);
	pctl_json_key(j, "dur");
	pctl_json_double(j, (double)ns / 1000);
	pctl_json_key(j, "args");
	pctl_json_object_begin(j);
}

static void end_event(pctl_json *j)
{
	pctl_json_object_end(j);
	pctl_json_object_end(j);
}

static void stage_event(pctl_json *j, const pctl_run_result *r, const pctl_run_stage *stage)
{
	const int of_run = stage->job == PCTL_STAGE_OF_RUN || stage->job >= r->n_jobs;
	const pctl_run_job *job = of_run ? NULL : &r->jobs[stage->job];

	begin_event(j, pctl_run_stage_name(stage->kind), of_run ? THREAD_OF_RUN : stage->job + 1,
		    stage->began_ns, stage->ns);
	pctl_json_kv_string(j, "about", pctl_run_stage_about(stage->kind));
	if (job != NULL && stage->kind == PCTL_STAGE_RUN) {
		pctl_json_kv_string(j, "what", job->what);
		pctl_json_kv_string(j, "device", job->device);
		pctl_json_kv_u64(j, "gas", job->gas);
		pctl_json_kv_u64(j, "rounds", job->repeat);
		pctl_json_kv_u64(j, "submits", job->stats.submits);
		pctl_json_kv_u32(j, "kernels_without_guards", job->stats.fast_kernels);
		if (job->stats.device_ns != 0) {
			pctl_json_key(j, "device_us");
			pctl_json_double(j, (double)job->stats.device_ns / 1000);
		}
	}
	end_event(j);
}

/* A remembered job took no time: a mark where it would stand. */
static void remembered_event(pctl_json *j, const pctl_run_job *job, uint32_t thread)
{
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "name", "remembered");
	pctl_json_kv_string(j, "cat", "job");
	pctl_json_kv_string(j, "ph", "i");
	pctl_json_kv_string(j, "s", "t");
	pctl_json_kv_u32(j, "pid", PROCESS);
	pctl_json_kv_u32(j, "tid", thread);
	pctl_json_key(j, "ts");
	pctl_json_double(j, 0);
	pctl_json_key(j, "args");
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "what", job->what);
	pctl_json_kv_u64(j, "saved_gas", job->gas + job->size_gas);
	pctl_json_key(j, "saved_us");
	pctl_json_double(j, (double)job->saved_ns / 1000);
	end_event(j);
}

char *pctl_run_report_trace(const pctl_run_report *report)
{
	const pctl_run_result *r = report->run;
	const char *name = report->graph->pipeline->name;
	pctl_json j;

	pctl_json_init(&j, 1);
	pctl_json_object_begin(&j);
	pctl_json_kv_string(&j, "displayTimeUnit", "ns");
	pctl_json_key(&j, "traceEvents");
	pctl_json_array_begin(&j);
	name_event(&j, "process_name", THREAD_OF_RUN, "pipectl run");
	name_event(&j, "thread_name", THREAD_OF_RUN, name);
	sort_thread(&j, THREAD_OF_RUN);
	for (uint32_t i = 0; i < r->n_jobs; i++) {
		name_event(&j, "thread_name", i + 1, r->jobs[i].id);
		sort_thread(&j, i + 1);
	}
	if (report->policy->telemetry) {
		begin_event(&j, name, THREAD_OF_RUN, 0, r->wall_ns);
		pctl_json_kv_u64(&j, "gas", r->gas);
		pctl_json_kv_u64(&j, "peak_bytes", r->peak_bytes);
		end_event(&j);
		for (uint32_t i = 0; i < r->n_stages; i++)
			stage_event(&j, r, &r->stages[i]);
		for (uint32_t i = 0; i < r->n_jobs; i++)
			if (r->jobs[i].remembered)
				remembered_event(&j, &r->jobs[i], i + 1);
	}
	pctl_json_array_end(&j);
	pctl_json_object_end(&j);
	return pctl_json_finish(&j);
}

/* ---- the directory ------------------------------------------------------------------------------- */

pctl_status pctl_run_report_write(const pctl_run_report *r, const char *dir, const pctl_call *call)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char *page, *trace = pctl_run_report_trace(r), *gas = pctl_run_report_gas(r);
	pctl_status status;

	pctl_run_report_page(r, &s);
	page = pctl_str_finish(&s);
	if (page == NULL || trace == NULL || gas == NULL) {
		status = pctl_no_memory(call, "a report");
	} else {
		const pctl_folder_file files[] = {{"index.html", page},
						  {"gas.json", gas},
						  {"run.json", r->document},
						  {"trace.json", trace}};

		status = pctl_folder_write(dir, files, 4, call);
	}
	free(page);
	free(trace);
	free(gas);
	return status;
}
