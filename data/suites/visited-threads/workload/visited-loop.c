/*
 * visited-loop: has a Python program work in one thread, while a sampler in it looks at the stacks of all its threads.
 *
 * Use:    visited-loop OPERATIONS CPU THREADS [VARIANT]  waits on standard input for one byte ("go"), then has that many
 *                                                        rounds of work done
 *         visited-loop --clock READS CPU                 times READS reads of the clock itself
 *         THREADS: how many threads sleep beside the one that works, each below 10 frames.
 *         VARIANT: visited, the sampler looks 100 times a second; nobody looks, if none is named.
 * Needs:  python3.
 * Read:   {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is monotonic time from the
 *         order to the answer, U and S are the CPU time of this process and of the program, its start included.
 * Why:    A sampler in the process visits each thread, whether it runs or sleeps, so its price may grow with their
 *         number; one that the kernel's timer drives looks at what runs (suite sampling-threads). Both programs have
 *         the same threads, the sampler's too, which has nothing to do in the plain one.
 * Source: sys._current_frames of Python's library, by which profilers of services look at all threads.
 */

#define PROGRAM "visited-loop"
#include "../../loop.h"
#include "../../rounds.h"

static const char PYTHON[] =
	"import os, sys, threading, time\n"
	"variant, many_threads = sys.argv[1], int(sys.argv[2])\n"
	"sleeping = threading.Event()\n"
	"def below(frames):\n"
	"    if frames:\n"
	"        below(frames - 1)\n"
	"    else:\n"
	"        sleeping.wait()\n"
	"def work(number):\n"
	"    for _ in range(200):\n"
	"        number = number * 31 % 1000003\n"
	"    return number\n"
	"def sample():\n"
	"    seen = {}\n"
	"    while True:\n"
	"        time.sleep(0.01)\n"
	"        if variant == 'visited':\n"
	"            for thread, frame in sys._current_frames().items():\n"
	"                stack = []\n"
	"                while frame is not None:\n"
	"                    stack.append(frame.f_code)\n"
	"                    frame = frame.f_back\n"
	"                key = tuple(stack)\n"
	"                seen[key] = seen.get(key, 0) + 1\n"
	"threading.stack_size(256 * 1024)\n"
	"for number in range(many_threads):\n"
	"    threading.Thread(target=below, args=(8,), daemon=True).start()\n"
	"threading.Thread(target=sample, daemon=True).start()\n"
	"def rounds(many):\n"
	"    for number in range(many):\n"
	"        work(number)\n"
	"    os.write(1, b'!')\n"
	"rounds(2000)\n"
	"for line in sys.stdin:\n"
	"    rounds(int(line))\n"
	"os._exit(0)\n";

static const struct language languages[] = {
	{"1", "threads.py", PYTHON, "true"},
	{"30", "threads.py", PYTHON, "true"},
	{"100", "threads.py", PYTHON, "true"},
	{"500", "threads.py", PYTHON, "true"},
};

#define PLAIN_AND_VISITED(threads)                                                                                   \
	{threads, "", "exec python3 -I threads.py plain " threads},                                                   \
	{threads, "visited", "exec python3 -I threads.py visited " threads}

static const struct start starts[] = {
	PLAIN_AND_VISITED("1"), PLAIN_AND_VISITED("30"), PLAIN_AND_VISITED("100"), PLAIN_AND_VISITED("500"),
};

int main(int argc, char **argv)
{
	long operations = begin(argc == 5 ? 4 : argc, argv, " THREADS [VARIANT]");
	const struct language *language = language_named(languages, MANY(languages), argc > 3 ? argv[3] : "");

	return time_program(operations, language, command_of(starts, MANY(starts), language, argc > 4 ? argv[4] : ""));
}
