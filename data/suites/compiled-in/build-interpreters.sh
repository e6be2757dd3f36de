#!/bin/sh
#
# build-interpreters: builds one Python four times for the suite compiled-in: once with static probes, thrice without.
#
# Use:    sh build-interpreters.sh [FOLDER [ARCHIVE]]
#         FOLDER:  where they go, as bin/python-plain and so on; by default /opt/probe-effect, where the suite looks
#         ARCHIVE: the source, Python-3.11.2.tgz as its authors released it; by default apt fetches it from Debian
# Needs:  on Debian: apt install gcc libc6-dev make binutils systemtap-sdt-dev. 500 MB for temporary files, and some
#         minutes of two CPUs that do nothing else.
# Read:   What it is about to do; and that one of the four has probes, and the others have none.
# Why:    All are configured and compiled alike, but for --with-dtrace in one of them. Optimisation by profile and at link
#         time is off, as it is where nobody asks for it: it would place the code of each build in another order. The
#         reversed and the sorted one are made of the very object files of the plain one, which the linker is given in
#         another order: what they take longer or shorter is what two builds differ by that differ in nothing.
#         All have one library, and the module _json inside, so that no other compiled module is needed.

set -eu
umask 022

VERSION=3.11.2
SERIES=${VERSION%.*}
SHA256=2411c74bda5bbcfcddaf4531f66d1adc73f247f529aee981b029513aefdbf849
RELEASE=bookworm # the release of Debian that has this version
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
OPT='-DNDEBUG -fwrapv -O3 -Wall' # CPython's own, but for what debuggers need

folder=${1:-/opt/probe-effect}
archive=${2:-}
test -z "$archive" || archive=$(realpath "$archive")
work=$(mktemp -d "${TMPDIR:-/tmp}/build-interpreters.XXXXXX")

finish() {
	status=$?
	trap '' HUP INT TERM
	test $status = 0 || tail -n 20 "$work/log" >&2
	rm -rf "$work"
	exit $status
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

say() {
	echo "build-interpreters: $*"
}

# apt checks the signature; its lists are our own, so that the system's stay as they are.
fetch() {
	mkdir -p apt/lists/partial apt/cache/archives/partial
	: > apt/status
	echo "deb-src [signed-by=$KEYRING] http://deb.debian.org/debian $RELEASE main" > apt/sources
	for words in update "source --download-only --tar-only python$SERIES"; do
		# shellcheck disable=SC2086 # they are several
		apt-get -o Dir::State="$work/apt" -o Dir::State::status="$work/apt/status" -o Dir::Cache="$work/apt/cache" \
			-o Dir::Etc::sourcelist="$work/apt/sources" -o Dir::Etc::sourceparts=/dev/null \
			-o APT::Sandbox::User=root -o Acquire::Languages=none $words
	done
	mv python"$SERIES"_*.orig.tar.* archive
}

unpack() {
	test -n "$archive" || fetch
	echo "$SHA256  ${archive:-archive}" | sha256sum --check
	mkdir source
	tar -xf "${archive:-archive}" -C source --strip-components 1
}

# compile NAME CONFIGURE..: one interpreter
compile() {
	name=$1
	shift
	mkdir -p "$name/Modules"
	cd "$name"
	printf '*static*\n_json _json.c\n' > Modules/Setup.local
	../source/configure --cache-file=../configured --prefix="$folder" OPT="$OPT" "$@"
	nice make -j2 python
	keep "$name"
	cd ..
}

# relink NAME FILTER: the object files of the plain one in the order that a command makes of their names
relink() {
	cd plain
	rm python
	make python LINK_PYTHON_OBJS="\$(shell printf '%s\n' \$(LIBRARY_OBJS) | $2)"
	keep "$1"
	cd ..
}

keep() {
	mkdir -p ../made/bin
	strip -o "../made/bin/python-$1" python
}

# Python's own modules, compiled for imports: nobody but root may be able to write there later.
library() {
	mkdir -p made/lib
	cp -R source/Lib "made/lib/python$SERIES"
	cd "made/lib/python$SERIES"
	rm -r test
	mkdir lib-dynload # empty, but by it an interpreter knows where it is
	../../bin/python-plain -S -m py_compile ./*.py collections/*.py encodings/*.py importlib/*.py json/*.py re/*.py
	cd "$work"
}

# How many static probes each of some interpreters has.
probes() {
	for name; do
		readelf --notes "made/bin/python-$name" | grep -c stapsdt || true
	done
}

cd "$work"
: > log
say "unpacking Python $VERSION"
unpack >> log 2>&1
say 'building python-plain'
compile plain >> log 2>&1
library >> log 2>&1
say 'building python-dtrace, with static probes'
compile dtrace --with-dtrace >> log 2>&1
say 'linking python-reversed and python-sorted'
relink reversed tac >> log 2>&1
relink sorted 'LC_ALL=C sort' >> log 2>&1
if test "$(probes plain reversed sorted | tr -d '\n')" != 000 || test "$(probes dtrace)" = 0; then
	say 'expected static probes in python-dtrace, and none in the others' >&2
	exit 1
fi
mkdir -p "$folder"
cp -Rp made/. "$folder" # with the times of the modules, by which Python knows that they are compiled
say "$(probes dtrace) static probes are in $folder/bin/python-dtrace, and none in python-plain, -reversed and -sorted"
