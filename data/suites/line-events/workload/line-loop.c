/*
 * line-loop: has a Python program execute lines, while the interpreter tells somebody of each or not.
 *
 * Use:    line-loop OPERATIONS CPU PYTHON [VARIANT]  waits on standard input for one byte ("go"), then has that many
 *                                                    calls of a function of 16 lines made
 *         line-loop --clock READS CPU                times READS reads of the clock itself
 *         PYTHON: one of the levels in suite.toml.
 *         VARIANT: settrace, monitoring, monitoring-once or coverage; nobody is told of lines, if none is named.
 * Needs:  what the level needs, by the names in suite.toml.
 * Read:   {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is monotonic time from the
 *         order to the answer, U and S are the CPU time of this process and of the program, its start included.
 * Why:    A line is an assignment of little work, so what is told of it weighs most; a debugger and a tool for coverage
 *         are told of nothing else.
 * Source: sys.settrace and sys.monitoring of Python's library; PEP 669.
 */

#define PROGRAM "line-loop"
#include "../../loop.h"
#include "../../rounds.h"

static const char PYTHON[] =
	"import os, sys\n"
	"variant = sys.argv[1]\n"
	"def work(number):\n"
	"    a = number * 31\n"
	"    b = a + 1\n"
	"    c = b + 2\n"
	"    d = c + 3\n"
	"    a = d ^ 4\n"
	"    b = a + 5\n"
	"    c = b + 6\n"
	"    d = c + 7\n"
	"    a = d ^ 8\n"
	"    b = a + 9\n"
	"    c = b + 10\n"
	"    d = c + 11\n"
	"    a = d ^ 12\n"
	"    b = a + 13\n"
	"    c = b + 14\n"
	"    return c\n"
	"def told(frame, event, argument):\n"
	"    return told\n"
	"def line(code, number):\n"
	"    return None\n"
	"def line_once(code, number):\n"
	"    return sys.monitoring.DISABLE\n"
	"if variant == 'settrace':\n"
	"    sys.settrace(told)\n"
	"elif variant == 'coverage':\n"
	"    import coverage\n"
	"    measured = coverage.Coverage(data_file=None, config_file=False)\n"
	"    measured.start()\n"
	"elif variant != 'plain':\n"
	"    events = sys.monitoring\n"
	"    events.use_tool_id(events.COVERAGE_ID, 'probe-effect')\n"
	"    events.register_callback(events.COVERAGE_ID, events.events.LINE, line_once if variant == 'monitoring-once' else line)\n"
	"    events.set_events(events.COVERAGE_ID, events.events.LINE)\n"
	"def rounds(many):\n"
	"    for number in range(many):\n"
	"        work(number)\n"
	"    os.write(1, b'!')\n"
	"rounds(5000)\n"
	"for given in sys.stdin:\n"
	"    rounds(int(given))\n";

static const struct language languages[] = {
	{"python", "lines.py", PYTHON, "true"},
	{"python312", "lines.py", PYTHON, "true"},
	{"python313", "lines.py", PYTHON, "true"},
	{"coverage", "lines.py", PYTHON, "true"},
};

#define PLAIN_AND_TRACED(level, command)                                                                             \
	{level, "", "exec " command " -I lines.py plain"}, {level, "settrace", "exec " command " -I lines.py settrace"}
#define MONITORED(level, command)                                                                                    \
	{level, "monitoring", "exec " command " -I lines.py monitoring"},                                             \
	{level, "monitoring-once", "exec " command " -I lines.py monitoring-once"}

static const struct start starts[] = {
	PLAIN_AND_TRACED("python", "python3"),
	PLAIN_AND_TRACED("python312", "python3.12"),
	PLAIN_AND_TRACED("python313", "python3.13"),
	MONITORED("python312", "python3.12"),
	MONITORED("python313", "python3.13"),
	{"coverage", "", "exec python3 -I lines.py plain"},
	{"coverage", "coverage", "exec python3 -I lines.py coverage"},
};

int main(int argc, char **argv)
{
	long operations = begin(argc == 5 ? 4 : argc, argv, " PYTHON [VARIANT]");
	const struct language *language = language_named(languages, MANY(languages), argc > 3 ? argv[3] : "");

	return time_program(operations, language, command_of(starts, MANY(starts), language, argc > 4 ? argv[4] : ""));
}
