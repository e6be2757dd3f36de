/*
 * lttng-loop: calls a function many times, and times the loop. The function is empty, or has a tracepoint of LTTng-UST.
 *
 * Use:   lttng-loop OPERATIONS CPU [VARIANT]  waits on standard input for one byte ("go"), then runs
 *        lttng-loop --clock READS CPU         times READS reads of the clock itself
 *        CPU -1: not pinned
 *        VARIANT: plain   the function has no tracepoint (the default)
 *                 work    it has probe_effect:work, with the operation's number
 *                 string  it has probe_effect:string, with the number and a string of 15 characters
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *        loop alone, U and S are the CPU time of the whole process by getrusage(2).
 * Why:   One loop calls whichever function through a pointer, and each begins at a multiple of 64 bytes, a cache line
 *        of its own: what differs between variants is the tracepoint alone. LTTng's library is there in every variant,
 *        with its threads that wait for a session daemon.
 * Source: lttng-ust(3), 2.13. lttng/tracepoint-event.h reads the header of a provider several times; this very file
 *        stands in for that header, so that the workload is one file.
 */

#define _GNU_SOURCE

#if !defined(__has_include)
#error "lttng-loop: expected a compiler with __has_include: GCC 5, Clang, or a later version of either"
#elif !__has_include(<lttng/tracepoint.h>)
#error "lttng-loop: no header lttng/tracepoint.h; on Debian and Ubuntu: apt install liblttng-ust-dev"
#endif

#if !defined(PROBE_EFFECT_TRACEPOINTS) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define PROBE_EFFECT_TRACEPOINTS

#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER probe_effect
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE __BASE_FILE__

#ifndef LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#endif

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(probe_effect, work,
	LTTNG_UST_TP_ARGS(long, done),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(long, done, done)))

LTTNG_UST_TRACEPOINT_EVENT(probe_effect, string,
	LTTNG_UST_TP_ARGS(long, done, const char *, word),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(long, done, done) lttng_ust_field_string(word, word)))

#endif

#ifndef PROBE_EFFECT_LOOP
#define PROBE_EFFECT_LOOP
#include <lttng/tracepoint-event.h>

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* What the tracepoint with a string records: 15 characters and the end. */
static const char WORD[] = "fifteen letters";

typedef void work_function(long done, const char *word);

#define FUNCTION static __attribute__((noinline, aligned(64))) void

FUNCTION work_plain(long done, const char *word)
{
	__asm__ volatile("" : : "r"(done), "r"(word)); /* the arguments have to be there, as for a tracepoint */
}

FUNCTION work_number(long done, const char *word)
{
	(void)word;
	lttng_ust_tracepoint(probe_effect, work, done);
}

FUNCTION work_string(long done, const char *word)
{
	lttng_ust_tracepoint(probe_effect, string, done, word);
}

static const struct {
	const char *name;
	work_function *work;
} VARIANTS[] = {
	{"plain", work_plain},
	{"work", work_number},
	{"string", work_string},
};

/* A CPU that waited for "go" has to leave its idle state first: it is kept busy, untimed, without a system call.
 * Baseline and traced runs wait for different times, and would start in different states without this. */
#define WARM_UP_NS 10000000

static void die(const char *what)
{
	fprintf(stderr, "lttng-loop: %s: %s\n", what, strerror(errno));
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

static void print_run(long operations, uint64_t wall_ns)
{
	struct rusage used;

	if (getrusage(RUSAGE_SELF, &used) != 0)
		die("getrusage");
	printf("{\"operations\": %ld, \"wall_ns\": %" PRIu64 ", \"user_ns\": %" PRIu64 ", \"sys_ns\": %" PRIu64 "}\n",
	       operations, wall_ns, in_ns(used.ru_utime), in_ns(used.ru_stime));
	if (fflush(stdout) != 0)
		die("standard output");
}

static long number(const char *text, long least)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno != 0 || *text == '\0' || *end != '\0' || value < least) {
		fprintf(stderr, "lttng-loop: %s: expected a whole number of %ld or more\n", text, least);
		exit(2);
	}
	return value;
}

static void pin(long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		die("sched_setaffinity");
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
		fprintf(stderr, "lttng-loop: standard input ended before the byte that starts the run\n");
		exit(1);
	}
}

static void warm_up(void)
{
	uint64_t start_ns = now_ns();

	(void)*(volatile const char *)WORD; /* no probe can copy from a page that was never read */
	while (now_ns() - start_ns < WARM_UP_NS)
		continue;
}

static work_function *variant(const char *name)
{
	for (size_t place = 0; place < sizeof(VARIANTS) / sizeof(VARIANTS[0]); place++)
		if (strcmp(name, VARIANTS[place].name) == 0)
			return VARIANTS[place].work;
	fprintf(stderr, "lttng-loop: %s: expected plain, work or string\n", name);
	exit(2);
}

static uint64_t time_operations(long operations, work_function *work)
{
	uint64_t start_ns = now_ns();

	for (long done = 0; done < operations; done++)
		work(done, WORD);
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
	work_function *work;
	long operations, cpu;
	uint64_t wall_ns;

	if (argc != 3 && argc != 4) {
		fprintf(stderr, "use: lttng-loop OPERATIONS CPU [VARIANT]\n     lttng-loop --clock READS CPU\n");
		return 2;
	}
	operations = number(argv[1 + is_clock], 1);
	cpu = number(argv[2 + is_clock], -1);
	work = variant(argc == 4 && !is_clock ? argv[3] : "plain");
	if (cpu >= 0)
		pin(cpu);
	if (is_clock) {
		warm_up();
		wall_ns = time_clock(operations);
	} else {
		wait_for_go();
		warm_up();
		wall_ns = time_operations(operations, work);
	}
	print_run(operations, wall_ns);
	return 0;
}
#endif
