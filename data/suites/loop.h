/*
 * loop.h: what the suites' workloads share: their arguments, their CPU, their start, their clock and their one line.
 *
 * Use:    #define PROGRAM "dd-loop", the name that messages bear; then #include "../../loop.h", before other headers.
 *         `main` calls begin, wait_for_go, its own timed loop, and print_run.
 *         PROGRAM OPERATIONS CPU [MORE]  waits on standard input for one byte ("go"), then runs; CPU -1: not pinned
 *         PROGRAM --clock READS CPU      times READS reads of the clock itself
 * Read:   {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *         loop alone, U and S are the CPU time of the whole process by getrusage(2).
 * Why:    The timed loop stands in the workload itself: here is only what is done before and after it.
 */

#ifndef PROBE_EFFECT_LOOP_H
#define PROBE_EFFECT_LOOP_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <sched.h>
#elif defined(__FreeBSD__)
#include <sys/param.h>
#include <sys/cpuset.h>
#endif

/* A CPU that waited for "go" has to leave its idle state first: it is kept busy, untimed, without a system call.
 * Baseline and traced runs wait for different times, and would start in different states without this. */
#define WARM_UP_NS 10000000

static void die(const char *what)
{
	fprintf(stderr, PROGRAM ": %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
		die("clock_gettime");
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t in_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

/* Without stdio, which would make system calls of its own (a buffer, its size) while all of them are counted. */
static void print_run(long operations, uint64_t wall_ns)
{
	struct rusage used;
	char line[160];
	int length;

	if (getrusage(RUSAGE_SELF, &used) != 0)
		die("getrusage");
	length = snprintf(line, sizeof(line),
	                  "{\"operations\": %ld, \"wall_ns\": %" PRIu64 ", \"user_ns\": %" PRIu64 ", \"sys_ns\": %" PRIu64 "}\n",
	                  operations, wall_ns, in_ns(used.ru_utime), in_ns(used.ru_stime));
	if (write(STDOUT_FILENO, line, (size_t)length) != length)
		die("standard output");
}

static long number(const char *text, long least)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno != 0 || *text == '\0' || *end != '\0' || value < least) {
		fprintf(stderr, PROGRAM ": %s: expected a whole number of %ld or more\n", text, least);
		exit(2);
	}
	return value;
}

/* Puts the thread that calls it on one CPU. */
static void pin(long cpu)
{
#if defined(__linux__)
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		die("sched_setaffinity");
#elif defined(__FreeBSD__)
	cpuset_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (cpuset_setaffinity(CPU_LEVEL_WHICH, CPU_WHICH_TID, -1, sizeof(set), &set) != 0)
		die("cpuset_setaffinity");
#else
	(void)cpu; /* this system pins no thread; machine.json says which system it was */
#endif
}

static inline int open_or_die(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		die(path);
	return fd;
}

static void warm_up(void)
{
	uint64_t start_ns = now_ns();

	while (now_ns() - start_ns < WARM_UP_NS)
		continue;
}

/* Returns when the tracer is live and the CPU awake: what follows may be timed. */
static void wait_for_go(void)
{
	char go;
	ssize_t got;

	do
		got = read(STDIN_FILENO, &go, 1);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		die("standard input");
	if (got == 0) {
		fprintf(stderr, PROGRAM ": standard input ended before the byte that starts the run\n");
		exit(1);
	}
	warm_up();
}

static uint64_t time_clock(long reads)
{
	uint64_t start_ns = now_ns();

	for (long done = 1; done < reads; done++)
		(void)now_ns();
	return now_ns() - start_ns; /* this last read counts too */
}

/* Reads the arguments, pins, and returns the operations to perform; to time the clock it does that, and ends.
 * `more` is what may follow as argv[3], after a blank and in words for the user; "" for nothing. */
static long begin(int argc, char **argv, const char *more)
{
	int is_clock = argc == 4 && strcmp(argv[1], "--clock") == 0;
	long operations, cpu;

	if (argc != 3 && !(argc == 4 && (is_clock || *more != '\0'))) {
		fprintf(stderr, "use: " PROGRAM " OPERATIONS CPU%s\n     " PROGRAM " --clock READS CPU\n", more);
		exit(2);
	}
	operations = number(argv[1 + is_clock], 1);
	cpu = number(argv[2 + is_clock], -1);
	if (cpu >= 0)
		pin(cpu);
	if (!is_clock)
		return operations;
	warm_up();
	print_run(operations, time_clock(operations));
	exit(0);
}

#endif
