/* Between faults.c, which has allocations fail, and faults_work.c, what is done meanwhile. */
#ifndef TESTS_API_FAULTS_H
#define TESTS_API_FAULTS_H

#include "pipectl/pipectl.h"

/* What is planted after the fault, to see the test fail. */
enum { PLANT_NOTHING, PLANT_LEAK, PLANT_SILENCE, PLANT_CRASH, PLANT_WRONG, PLANTS };
extern uint32_t plant;

/* cid: what came of it, as text; how many errors were told, of which codes, and the first of them. */
typedef struct outcome {
	char cid[PIPECTL_CID_SIZE];
	uint32_t n_errors, n_memory, n_internal;
	char text[160];
} outcome;

/* The pipeline that stays on a device, and the model: paths by which `work` is told. */
extern const char *resident_path, *model_path;

/* Open an installation and use it: path NULL: the chain; model_path or resident_path: these; any other: check and run the pipeline, and audit
 * it beside the device `second`, unless that is NULL. */
pctl_status work(const char *home, const char *path, const char *second, outcome *out);

/* The model of the sweep, made in the home; 0 where it cannot be. */
int make_model(const char *home, char path[256]);

#endif
