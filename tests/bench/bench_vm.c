/* What an execution of a machine costs: layers whose kernel does next to nothing, so that what is left is the list itself, the metrics
 * kernels and the regulators, at several lengths of a message, without and with instances that can be skipped. The peer of a row is the
 * one of 64 words: what is more is what the norm of a longer message takes. usage: bench_vm HOME DEVICE [INSTANCES [ROUNDS]] */
#include <stdio.h>
#include <stdlib.h>

#include "pipectl/vm.h"

static const char text[] = "@group(0) @binding(0) var<storage, read_write> registers: array<f32>;\n"
			   "override width: u32 = 4096u;\n"
			   "@compute @workgroup_size(64)\n"
			   "fn main(@builtin(local_invocation_index) i: u32) {\n"
			   "  registers[30u * width + i] = registers[31u * width + i] + 1.0;\n"
			   "}\n";

static void say(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	fprintf(stderr, "PC%04u: %s\n", d->code, d->message);
}

/* Nanoseconds of one execution, the least of five submits of `rounds`; 0: it failed. */
static double once(pipectl *p, const char *device, uint32_t instances, uint32_t n_embd,
		   uint32_t flags, uint32_t rounds, pipectl_vm_stats *stats)
{
	const pipectl_vm_options o = {.head = PCTL_HEAD(pipectl_vm_options),
				      .device = device,
				      .instances = instances,
				      .n_embd = n_embd};
	const pipectl_vm_step step = {
		.head = PCTL_HEAD(pipectl_vm_step), .name = "k.wgsl", .wgsl = text};
	const pipectl_vm_step *const steps = &step;
	const pipectl_vm_program_options program_options = {
		.head = PCTL_HEAD(pipectl_vm_program_options),
		.steps = &steps,
		.n_steps = 1,
		.flags = flags};
	pipectl_vm_program *program = NULL;
	pipectl_vm *vm = NULL;
	double best = 0;

	if (pipectl_vm_boot(p, &o, &vm) != PCTL_OK ||
	    pipectl_vm_program_make(vm, &program_options, &program) != PCTL_OK)
		goto out;
	for (uint32_t i = 0; i < 6 && pipectl_vm_execute(program, rounds) == PCTL_OK; i++) {
		double ns;

		*stats = (pipectl_vm_stats){.head = PCTL_HEAD(pipectl_vm_stats)};
		if (pipectl_vm_program_stats(program, stats) != PCTL_OK)
			break;
		ns = (double)(stats->device_ns != 0 ? stats->device_ns : stats->host_ns) / rounds;
		if (i != 0 && (best == 0 || ns < best))
			best = ns;
	}
out:
	pipectl_vm_program_release(program);
	pipectl_vm_shutdown(vm);
	return best;
}

int main(int argc, char **argv)
{
	const uint32_t n = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 28;
	const uint32_t rounds = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 20;
	static const uint32_t lengths[] = {64, 1536, 2048, 3584};
	pipectl_options o = {.head = PCTL_HEAD(pipectl_options), .diagnostic = say};
	pipectl_vm_stats stats = {.head = PCTL_HEAD(pipectl_vm_stats)};
	pipectl *p;
	int failed = 0;

	if (argc < 3 || n == 0 || rounds == 0) {
		fprintf(stderr, "usage: bench_vm HOME DEVICE [INSTANCES [ROUNDS]]\n");
		return 2;
	}
	o.home = argv[1];
	if (pipectl_open(&o, &p) != PCTL_OK)
		return 1;
	printf("%-10s %-9s %-9s %-10s %-9s %12s %14s\n", "instances", "n_embd", "skipping",
	       "dispatches", "barriers", "us execution", "us a dispatch");
	for (uint32_t i = 0; i < 2 * sizeof(lengths) / sizeof(*lengths); i++) {
		const uint32_t n_embd = lengths[i / 2], skipping = i % 2;
		const double ns = once(p, argv[2], n, n_embd, skipping ? PIPECTL_VM_SKIPPING : 0,
				       rounds, &stats);

		failed |= ns == 0;
		printf("%-10u %-9u %-9s %-10llu %-9llu %12.1f %14.2f\n", n, n_embd,
		       skipping ? "yes" : "no", (unsigned long long)stats.dispatches,
		       (unsigned long long)stats.barriers, ns / 1e3,
		       stats.dispatches == 0 ? 0 : ns / 1e3 / (double)stats.dispatches);
	}
	pipectl_close(p);
	return failed;
}
