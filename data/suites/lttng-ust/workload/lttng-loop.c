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
 *        stands in for that header.
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

#define PROGRAM "lttng-loop"
#include "../../loop.h"

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

static work_function *variant(const char *name)
{
	for (size_t place = 0; place < sizeof(VARIANTS) / sizeof(VARIANTS[0]); place++)
		if (strcmp(name, VARIANTS[place].name) == 0)
			return VARIANTS[place].work;
	fprintf(stderr, PROGRAM ": %s: expected plain, work or string\n", name);
	exit(2);
}

static uint64_t time_operations(long operations, work_function *work)
{
	uint64_t start_ns = now_ns();

	for (long done = 0; done < operations; done++)
		work(done, WORD);
	return now_ns() - start_ns;
}

int main(int argc, char **argv)
{
	long operations = begin(argc, argv, " [VARIANT]");
	work_function *work = variant(argc > 3 ? argv[3] : "plain");

	(void)*(volatile const char *)WORD; /* no probe can copy from a page that was never read */
	wait_for_go();
	print_run(operations, time_operations(operations, work));
	return 0;
}
#endif
