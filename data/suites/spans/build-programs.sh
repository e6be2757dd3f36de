#!/bin/sh
#
# build-programs: builds what the suite spans needs beside packages of Debian: rust-spans and python-opentelemetry.
#
# Use:    sh build-programs.sh [FOLDER]
#         FOLDER: where they go, as bin/rust-spans and bin/python-opentelemetry; by default /opt/probe-effect, where the
#                 suite looks
# Needs:  python3 with venv, cargo (1.70 or later), and the package indexes of both (PyPI, crates.io).
# Read:   What it is about to do.
# Why:    The versions are fixed, so that two machines measure the same libraries; spans are disabled by a filter that is
#         asked at run time, as in production, and not by a feature of the compiler.

set -eu
umask 022

folder=${1:-/opt/probe-effect}
work=$(mktemp -d "${TMPDIR:-/tmp}/build-programs.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

say() {
	echo "build-programs: $*"
}

say "Python with opentelemetry-sdk 1.38.0, into $folder/opentelemetry"
mkdir -p "$folder/bin"
/usr/bin/python3 -m venv --clear "$folder/opentelemetry"
"$folder/opentelemetry/bin/pip" install --quiet opentelemetry-api==1.38.0 opentelemetry-sdk==1.38.0
# A link would be taken for the interpreter that it leads to, without its packages.
printf '#!/bin/sh\nexec %s/opentelemetry/bin/python "$@"\n' "$folder" > "$work/python-opentelemetry"

say "rust-spans, with tracing 0.1.41 and log 0.4.28"
mkdir -p "$work/rust-spans/src"
cat > "$work/rust-spans/Cargo.toml" << 'END'
[package]
name = "rust-spans"
version = "1.0.0"
edition = "2021"

[dependencies]
log = { version = "=0.4.28", features = ["std"] }
tracing = "=0.1.41"
tracing-subscriber = { version = "=0.3.20", features = ["fmt", "registry"] }

[profile.release]
debug = false
END
cat > "$work/rust-spans/src/main.rs" << 'END'
use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::sync::Mutex;

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::prelude::*;

#[inline(never)]
fn work(number: u64) -> u64 {
    number * 31 % 1_000_003
}

#[inline(never)]
fn plain(number: u64) -> u64 {
    work(number)
}

#[inline(never)]
fn spanned(number: u64) -> u64 {
    let _span = tracing::info_span!("request", number).entered();
    work(number)
}

#[inline(never)]
fn logged(number: u64) -> u64 {
    log::info!("request {number}");
    work(number)
}

struct Dropped;

impl log::Log for Dropped {
    fn enabled(&self, _: &log::Metadata) -> bool {
        true
    }
    fn log(&self, record: &log::Record) {
        black_box(record);
    }
    fn flush(&self) {}
}

struct Written(Mutex<File>);

impl log::Log for Written {
    fn enabled(&self, _: &log::Metadata) -> bool {
        true
    }
    fn log(&self, record: &log::Record) {
        let mut file = self.0.lock().unwrap();
        writeln!(file, "{} {}: {}", record.level(), record.target(), record.args()).unwrap();
    }
    fn flush(&self) {}
}

fn null() -> File {
    OpenOptions::new().write(true).open("/dev/null").unwrap()
}

fn rounds(many: u64, one: fn(u64) -> u64) {
    for number in 0..many {
        black_box(one(black_box(number)));
    }
    io::stdout().write_all(b"!").unwrap();
    io::stdout().flush().unwrap();
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let (library, variant) = (words[1].as_str(), words[2].as_str());
    let registry = tracing_subscriber::registry();
    match (library, variant) {
        (_, "plain") => {}
        ("tracing", "disabled") => registry.with(LevelFilter::WARN).init(),
        ("tracing", "unread") => registry.init(),
        ("tracing", "exported") => {
            let layer = tracing_subscriber::fmt::layer().with_span_events(FmtSpan::CLOSE).with_writer(Mutex::new(null()));
            registry.with(layer).init();
        }
        ("log", _) => {
            let logger: Box<dyn log::Log> =
                if variant == "exported" { Box::new(Written(Mutex::new(null()))) } else { Box::new(Dropped) };
            log::set_boxed_logger(logger).unwrap();
            log::set_max_level(if variant == "disabled" { log::LevelFilter::Warn } else { log::LevelFilter::Info });
        }
        _ => panic!("expected tracing or log, and plain, disabled, unread or exported"),
    }
    let one = match (library, variant) {
        (_, "plain") => plain,
        ("tracing", _) => spanned,
        _ => logged,
    };
    rounds(200_000, one);
    for line in io::stdin().lock().lines() {
        rounds(line.unwrap().trim().parse().unwrap(), one);
    }
}
END
(cd "$work/rust-spans" && cargo build --quiet --release)

install -m 755 "$work/python-opentelemetry" "$work/rust-spans/target/release/rust-spans" "$folder/bin/"
say "done: $folder/bin/rust-spans and $folder/bin/python-opentelemetry"
