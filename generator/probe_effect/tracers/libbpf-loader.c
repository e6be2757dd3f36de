/*
 * libbpf-loader: loads one BPF object file, attaches all its programs, and counts: about the least a tracer can be.
 *
 * Use:   libbpf-loader OBJECT.bpf.o   attaches each program where its section's name says (libbpf's automatic
 *                                     attachment: uprobe/PATH:FUNCTION, tp/GROUP/NAME, raw_tp/NAME, kprobe/NAME, ..);
 *                                     one of section perf_event to a timer of each CPU, as often as its name says:
 *                                     sample_99_hz
 *        libbpf-loader --version      the version of libbpf
 * Read:  "ready N" when all programs are attached by N links: one each, or one for each CPU.
 *        At the end, asked for by SIGTERM or SIGINT, one line of JSON: {"seen": S, "lost": L}. S is the sum of the
 *        per-CPU array `counts` (null without one); L is how often the kernel left a program out because another one
 *        was at work on that CPU.
 * Exit:  0, or 1 with the reason on standard error, in libbpf's words and ours.
 * Source: libbpf.h of libbpf 1.1 and later.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#define MAX_LINKS 4096

static void die(const char *what, int error)
{
	fprintf(stderr, "libbpf-loader: %s: %s\n", what, strerror(error));
	exit(1);
}

static int only_warnings(enum libbpf_print_level level, const char *format, va_list arguments)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, arguments) : 0;
}

/* Until it is waited for, the signal that ends us is kept: one that comes early ends us all the same. */
static sigset_t keep_signals(void)
{
	sigset_t end;

	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigaddset(&end, SIGINT);
	if (sigprocmask(SIG_BLOCK, &end, NULL) != 0)
		die("sigprocmask", errno);
	return end;
}

static struct bpf_object *load(const char *path)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);

	if (object == NULL)
		die(path, errno);
	if (bpf_object__load(object) != 0)
		die("the kernel refused a program", errno);
	return object;
}

static void keep(struct bpf_link **links, int *attached, struct bpf_link *link, const char *what)
{
	if (link == NULL)
		die(what, errno);
	if (*attached == MAX_LINKS)
		die("too many links", E2BIG);
	links[(*attached)++] = link;
}

/* A timer of each CPU that is on: cpu-clock, which virtual machines have too. */
static void attach_to_timers(struct bpf_program *program, struct bpf_link **links, int *attached)
{
	const char *name = bpf_program__name(program);
	struct perf_event_attr timer = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(timer), .config = PERF_COUNT_SW_CPU_CLOCK, .freq = 1};
	unsigned int hz;

	if (sscanf(name, "sample_%u_hz", &hz) != 1)
		die(name, EINVAL);
	timer.sample_freq = hz;
	for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++) {
		int event = (int)syscall(SYS_perf_event_open, &timer, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (event >= 0)
			keep(links, attached, bpf_program__attach_perf_event(program, event), name);
		else if (errno != ENODEV)
			die("perf_event_open", errno);
	}
}

static int attach(struct bpf_object *object, struct bpf_link **links)
{
	struct bpf_program *program;
	int attached = 0;

	bpf_object__for_each_program(program, object) {
		if (bpf_program__type(program) == BPF_PROG_TYPE_PERF_EVENT)
			attach_to_timers(program, links, &attached);
		else
			keep(links, &attached, bpf_program__attach(program), bpf_program__section_name(program));
	}
	if (attached == 0)
		die("no program to attach", ENOENT);
	return attached;
}

static uint64_t lost(struct bpf_object *object)
{
	struct bpf_program *program;
	uint64_t sum = 0;

	bpf_object__for_each_program(program, object) {
		struct bpf_prog_info info = {0};
		uint32_t size = sizeof(info);

		if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) != 0)
			die("bpf_prog_info", errno);
		sum += info.recursion_misses;
	}
	return sum;
}

static uint64_t sum_of(const struct bpf_map *counts)
{
	int cpus = libbpf_num_possible_cpus();
	uint64_t *by_cpu, sum = 0;
	uint32_t first = 0;

	if (cpus < 1)
		die("number of CPUs", -cpus);
	by_cpu = calloc((size_t)cpus, sizeof(*by_cpu));
	if (by_cpu == NULL)
		die("memory", errno);
	if (bpf_map_lookup_elem(bpf_map__fd(counts), &first, by_cpu) != 0)
		die("counts", errno);
	for (int cpu = 0; cpu < cpus; cpu++)
		sum += by_cpu[cpu];
	free(by_cpu);
	return sum;
}

static void print_counts(struct bpf_object *object)
{
	const struct bpf_map *counts = bpf_object__find_map_by_name(object, "counts");

	if (counts == NULL)
		printf("{\"seen\": null, \"lost\": %" PRIu64 "}\n", lost(object));
	else
		printf("{\"seen\": %" PRIu64 ", \"lost\": %" PRIu64 "}\n", sum_of(counts), lost(object));
}

int main(int argc, char **argv)
{
	struct bpf_link *links[MAX_LINKS];
	struct bpf_object *object;
	sigset_t end;
	int attached, signal;

	if (argc != 2) {
		fprintf(stderr, "use: libbpf-loader OBJECT.bpf.o\n     libbpf-loader --version\n");
		return 2;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("libbpf %s\n", libbpf_version_string());
		return 0;
	}
	end = keep_signals();
	libbpf_set_print(only_warnings);
	object = load(argv[1]);
	attached = attach(object, links);
	printf("ready %d\n", attached);
	if (fflush(stdout) != 0)
		die("standard output", errno);
	sigwait(&end, &signal);
	for (int number = 0; number < attached; number++)
		bpf_link__destroy(links[number]);
	print_counts(object);
	bpf_object__close(object);
	return fflush(stdout) == 0 ? 0 : 1;
}
