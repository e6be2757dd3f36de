/*
 * query-loop: has PostgreSQL execute a query many times, while it times the nodes of the plan or does not.
 *
 * Use:    query-loop OPERATIONS CPU PLAN [VARIANT]  waits on standard input for one byte ("go"), then has the query
 *                                                   executed that many times
 *         query-loop --clock READS CPU              times READS reads of the clock itself
 *         PLAN: scan, 10 000 rows read and counted; join, as many joined with as many others first.
 *         VARIANT: rows, the query's rows are counted at each node (EXPLAIN ANALYZE, TIMING OFF); timed, the clock is
 *         read at each node for each row too (EXPLAIN ANALYZE).
 * Needs:  PostgreSQL's server and initdb on the path or in /usr/lib/postgresql; unshare(1), as root.
 * Read:   {"operations": N, "wall_ns": T, "user_ns": U, "sys_ns": S}, one line of JSON; T is monotonic time from the
 *         order to the answer, U and S are the CPU time of this process and of the program, its start included.
 * Why:    The server in single-user mode is one process without a client, so that no network and no other process is in
 *         the time. It refuses to run as root, and has a user namespace of its own where it is another user. What was
 *         ordered is executed by a loop in the server, which hands out no rows.
 * Source: EXPLAIN and "Single-User Mode" in PostgreSQL's documentation.
 */

#define PROGRAM "query-loop"
#include "../../loop.h"
#include "../../rounds.h"

#define BUILD                                                                                                        \
	"#!/bin/sh\n"                                                                                                \
	"# Makes a cluster with two tables, in this folder.\n"                                                       \
	"set -e\n"                                                                                                   \
	"for folder in /usr/lib/postgresql/*/bin; do PATH=$PATH:$folder; done\n"                                      \
	"as_user='unshare --user --map-user=65534 --map-group=65534'\n"                                               \
	"mkdir -m 700 cluster\n"                                                                                     \
	"$as_user initdb --pgdata=cluster --no-sync --auth=trust --no-locale --encoding=UTF8 >initdb.log 2>&1 || { cat initdb.log >&2; exit 1; }\n" \
	"$as_user postgres --single -D cluster postgres >tables.log 2>&1 <<'END'\n"                                  \
	"CREATE TABLE t AS SELECT number AS a, number % 100 AS b FROM generate_series(1, 10000) AS number;\n"         \
	"CREATE TABLE u AS SELECT number AS a, number % 100 AS b FROM generate_series(1, 10000) AS number;\n"         \
	"VACUUM ANALYZE t;\n"                                                                                        \
	"VACUUM ANALYZE u;\n"                                                                                        \
	"END\n"

/* Each line that the server reads is a command; of all that it prints the "!" alone is passed on. It ends with the shell
 * that starts it, whatever ends that, and the shell with it where it cannot start. */
#define SERVER                                                                                                       \
	"for folder in /usr/lib/postgresql/*/bin; do PATH=$PATH:$folder; done; "                                      \
	"{ echo 5; cat; } | while read -r many; do "                                                                  \
	"echo \"DO 'BEGIN FOR i IN 1..$many LOOP EXECUTE ''$prefix $query''; END LOOP; END';\"; echo \"SELECT '!';\"; done | " \
	"setpriv --pdeathsig KILL sh -c 'unshare --user --map-user=65534 --map-group=65534 setpriv --pdeathsig KILL "  \
	"postgres --single -D cluster -c jit=off -c max_parallel_workers_per_gather=0 -c fsync=off postgres "         \
	"2>server.log || { tail -n 3 server.log >&2; kill $PPID; }' | "                                               \
	"grep --line-buffered --only-matching '!'"

#define SCAN "query='SELECT count(*) FROM t'; "
#define JOIN "query='SELECT count(*) FROM t JOIN u USING (a)'; "
#define ROWS "prefix='EXPLAIN (ANALYZE, TIMING OFF)'; "
#define TIMED "prefix='EXPLAIN (ANALYZE)'; "

static const struct language languages[] = {
	{"scan", "build.sh", BUILD, "exec sh build.sh"},
	{"join", "build.sh", BUILD, "exec sh build.sh"},
};

static const struct start starts[] = {
	{"scan", "", "prefix=; " SCAN SERVER}, {"scan", "rows", ROWS SCAN SERVER}, {"scan", "timed", TIMED SCAN SERVER},
	{"join", "", "prefix=; " JOIN SERVER}, {"join", "rows", ROWS JOIN SERVER}, {"join", "timed", TIMED JOIN SERVER},
};

int main(int argc, char **argv)
{
	long operations = begin(argc == 5 ? 4 : argc, argv, " PLAN [VARIANT]");
	const struct language *language = language_named(languages, MANY(languages), argc > 3 ? argv[3] : "");

	return time_program(operations, language, command_of(starts, MANY(starts), language, argc > 4 ? argv[4] : ""));
}
