/*
 * dd-loop: reads one byte from /dev/zero and writes one byte to /dev/null, many times, and times the loop.
 *
 * Use:   dd-loop OPERATIONS CPU     waits on standard input for one byte ("go"), then runs; CPU -1: not pinned
 *        dd-loop --clock READS CPU  times READS reads of the clock itself
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *        loop alone, U and S are the CPU time of the whole process by getrusage(2).
 * Why:   dd differs among systems and releases, and its start and end cannot be told from its loop.
 *        Reads and writes go through the C library, so that a probe on its `read` fires once an operation.
 */

#define _GNU_SOURCE
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
	fprintf(stderr, "dd-loop: %s: %s\n", what, strerror(errno));
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
		fprintf(stderr, "dd-loop: %s: expected a whole number of %ld or more\n", text, least);
		exit(2);
	}
	return value;
}

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
	if (cpuset_setaffinity(CPU_LEVEL_WHICH, CPU_WHICH_PID, -1, sizeof(set), &set) != 0)
		die("cpuset_setaffinity");
#else
	(void)cpu; /* this system pins no process; machine.json says which system it was */
#endif
}

static int open_or_die(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		die(path);
	return fd;
}

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
		fprintf(stderr, "dd-loop: standard input ended before the byte that starts the run\n");
		exit(1);
	}
}

static void warm_up(void)
{
	uint64_t start_ns = now_ns();

	while (now_ns() - start_ns < WARM_UP_NS)
		continue;
}

static uint64_t time_operations(long operations, int in, int out)
{
	char byte = 0;
	uint64_t start_ns = now_ns();

	for (long done = 0; done < operations; done++) {
		if (read(in, &byte, 1) != 1)
			die("read /dev/zero");
		if (write(out, &byte, 1) != 1)
			die("write /dev/null");
	}
	return now_ns() - start_ns;
}

static uint64_t time_clock(long reads)
{
	uint64_t start_ns = now_ns();

	for (long done = 1; done < reads; done++)
		(void)now_ns();
	return now_ns() - start_ns; /* this last read counts too */
}

int main(int argc, char **argv)
{
	int is_clock = argc == 4 && strcmp(argv[1], "--clock") == 0;
	long operations, cpu;
	uint64_t wall_ns;

	if (argc != 3 && !is_clock) {
		fprintf(stderr, "use: dd-loop OPERATIONS CPU\n     dd-loop --clock READS CPU\n");
		return 2;
	}
	operations = number(argv[argc - 2], 1);
	cpu = number(argv[argc - 1], -1);
	if (cpu >= 0)
		pin(cpu);
	if (is_clock) {
		warm_up();
		wall_ns = time_clock(operations);
	} else {
		int in = open_or_die("/dev/zero", O_RDONLY), out = open_or_die("/dev/null", O_WRONLY);

		wait_for_go();
		warm_up();
		wall_ns = time_operations(operations, in, out);
	}
	print_run(operations, wall_ns);
	return 0;
}
