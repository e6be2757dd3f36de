/*
 * usdt-loop: calls an empty function many times, and times the loop. The function has no probe, or a static one.
 *
 * Use:   usdt-loop OPERATIONS CPU [VARIANT]  waits on standard input for one byte ("go"), then runs; CPU -1: not pinned
 *        usdt-loop --clock READS CPU         times READS reads of the clock itself
 *        VARIANT: plain           the function has no probe (the default)
 *                 usdt            it has the probe probe_effect:work
 *                 usdt-semaphore  it has the probe probe_effect:guarded, behind a test of the probe's semaphore
 * Read:  {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is the monotonic time of the
 *        loop alone, U and S are the CPU time of the whole process by getrusage(2).
 * Why:   One loop calls whichever function through a pointer, and each begins at a multiple of 64 bytes, a cache line
 *        of its own: what differs between variants is the probe alone. A probe's arguments are the operation's number
 *        and a string of 15 characters.
 * Source: sys/sdt.h of SystemTap for the probes and the semaphores.
 */

#define _GNU_SOURCE
#include <errno.h>
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

#if !defined(__has_include)
#error "usdt-loop: expected a compiler with __has_include: GCC 5, Clang, or a later version of either"
#elif !__has_include(<sys/sdt.h>)
#error "usdt-loop: expected the header sys/sdt.h, found none; on Debian and Ubuntu: apt install systemtap-sdt-dev"
#endif

/* What a probe's second argument is, for scripts that copy a string: 15 characters and the end. */
static const char WORD[] = "fifteen letters";

typedef void work_function(long done, const char *word);

#define FUNCTION static __attribute__((noinline, aligned(64))) void

FUNCTION work_plain(long done, const char *word)
{
	__asm__ volatile("" : : "r"(done), "r"(word)); /* the arguments have to be there, as for a probe */
}

/* Arguments in registers or as constants: clang would store them in memory for a probe, enabled or not. */
#define STAP_SDT_ARG_CONSTRAINT nr
#include <sys/sdt.h>

FUNCTION work_usdt(long done, const char *word)
{
	DTRACE_PROBE2(probe_effect, work, done, word);
}

/* The header gives either all probes of a file a semaphore or none; so it is read once more. A tool that enables the
 * probe adds one to the semaphore, in the memory of each process. */
#undef _SYS_SDT_H
#undef _SDT_NOTE_SEMAPHORE_USE
#undef _SDT_SEMAPHORE
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

__attribute__((section(".probes"))) volatile unsigned short probe_effect_guarded_semaphore;

FUNCTION work_semaphore(long done, const char *word)
{
	if (__builtin_expect(probe_effect_guarded_semaphore != 0, 0))
		DTRACE_PROBE2(probe_effect, guarded, done, word);
}

static const struct {
	const char *name;
	work_function *work;
} VARIANTS[] = {
	{"plain", work_plain},
	{"usdt", work_usdt},
	{"usdt-semaphore", work_semaphore},
};

/* A CPU that waited for "go" has to leave its idle state first: it is kept busy, untimed, without a system call.
 * Baseline and traced runs wait for different times, and would start in different states without this. */
#define WARM_UP_NS 10000000

static void die(const char *what)
{
	fprintf(stderr, "usdt-loop: %s: %s\n", what, strerror(errno));
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
		fprintf(stderr, "usdt-loop: %s: expected a whole number of %ld or more\n", text, least);
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
		fprintf(stderr, "usdt-loop: standard input ended before the byte that starts the run\n");
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
	fprintf(stderr, "usdt-loop: %s: expected plain, usdt or usdt-semaphore\n", name);
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
		fprintf(stderr, "use: usdt-loop OPERATIONS CPU [VARIANT]\n     usdt-loop --clock READS CPU\n");
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
