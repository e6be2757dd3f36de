/*
 * libbpf-loader: loads one BPF object file, attaches all its programs, and counts: about the least a tracer can be.
 *
 * Use:   libbpf-loader OBJECT.bpf.o [PID]  attaches each program where its section's name says (libbpf's automatic
 *                                           attachment: uprobe/PATH:FUNCTION, tp/GROUP/NAME, raw_tp/NAME, ..); one of
 *                                           section perf_event to a timer of each CPU, as often as its name says:
 *                                           sample_99_hz
 *        libbpf-loader --version            the version of libbpf
 *        What else is done depends on the object. In the section `.data.target` the number PID is written. A ring buffer
 *        `records` is read, each record whole, until it is empty, and again 1 ms later. As long as it has a section
 *        `.data.statistics`, the kernel keeps its statistics of BPF programs.
 * Read:  "ready N" when all programs are attached by N links: one each, or one for each CPU.
 *        At the end, asked for by SIGTERM or SIGINT, one line of JSON: {"seen": S, "lost": L}. S is the sum of the
 *        per-CPU array `counts` (null without one); L is how often the kernel left a program out because another one
 *        was at work on that CPU, and the sum of the per-CPU array `dropped`.
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
#define LOOK_EVERY_NS 1000000

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
		die(bpf_map__name(counts), errno);
	for (int cpu = 0; cpu < cpus; cpu++)
		sum += by_cpu[cpu];
	free(by_cpu);
	return sum;
}

static uint64_t lost(struct bpf_object *object)
{
	const struct bpf_map *dropped = bpf_object__find_map_by_name(object, "dropped");
	struct bpf_program *program;
	uint64_t sum = dropped == NULL ? 0 : sum_of(dropped);

	bpf_object__for_each_program(program, object) {
		struct bpf_prog_info info = {0};
		uint32_t size = sizeof(info);

		if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) != 0)
			die("bpf_prog_info", errno);
		sum += info.recursion_misses;
	}
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

static void name_target(struct bpf_object *object, const char *pid)
{
	const struct bpf_map *target = bpf_object__find_map_by_name(object, ".data.target");
	uint32_t first = 0, number = (uint32_t)strtoul(pid, NULL, 10);

	if (target != NULL && bpf_map_update_elem(bpf_map__fd(target), &first, &number, BPF_ANY) != 0)
		die("target", errno);
}

/* The kernel keeps them until we end. */
static void keep_statistics(struct bpf_object *object)
{
	if (bpf_object__find_map_by_name(object, ".data.statistics") != NULL && bpf_enable_stats(BPF_STATS_RUN_TIME) < 0)
		die("the kernel's statistics of BPF programs", errno);
}

/* What was read, so that no compiler can leave reading out. */
static volatile uint64_t read_last;

/* Reads the whole record, as whoever decodes it has to. */
static int read_record(void *context, void *data, size_t bytes)
{
	uint64_t sum = 0, word;

	(void)context;
	for (size_t at = 0; at + sizeof(word) <= bytes; at += sizeof(word)) {
		memcpy(&word, (char *)data + at, sizeof(word));
		sum += word;
	}
	read_last = sum;
	return 0;
}

static struct ring_buffer *open_records(struct bpf_object *object)
{
	const struct bpf_map *records = bpf_object__find_map_by_name(object, "records");
	struct ring_buffer *ring;

	if (records == NULL)
		return NULL;
	ring = ring_buffer__new(bpf_map__fd(records), read_record, NULL, NULL);
	if (ring == NULL)
		die("records", errno);
	return ring;
}

/* Returns when we are to end; until then reads what is there, and looks again after a pause. */
static void wait_for_end(const sigset_t *end, struct ring_buffer *ring)
{
	const struct timespec pause = {.tv_nsec = LOOK_EVERY_NS};
	int signal;

	if (ring == NULL) {
		sigwait(end, &signal);
		return;
	}
	do {
		if (ring_buffer__consume(ring) < 0)
			die("records", errno);
	} while (sigtimedwait(end, NULL, &pause) < 0);
}

int main(int argc, char **argv)
{
	struct bpf_link *links[MAX_LINKS];
	struct bpf_object *object;
	struct ring_buffer *ring;
	sigset_t end;
	int attached;

	if (argc != 2 && argc != 3) {
		fprintf(stderr, "use: libbpf-loader OBJECT.bpf.o [PID]\n     libbpf-loader --version\n");
		return 2;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("libbpf %s\n", libbpf_version_string());
		return 0;
	}
	end = keep_signals();
	libbpf_set_print(only_warnings);
	object = load(argv[1]);
	name_target(object, argc == 3 ? argv[2] : "0");
	ring = open_records(object);
	keep_statistics(object);
	attached = attach(object, links);
	printf("ready %d\n", attached);
	if (fflush(stdout) != 0)
		die("standard output", errno);
	wait_for_end(&end, ring);
	for (int number = 0; number < attached; number++)
		bpf_link__destroy(links[number]);
	print_counts(object);
	ring_buffer__free(ring);
	bpf_object__close(object);
	return fflush(stdout) == 0 ? 0 : 1;
}
