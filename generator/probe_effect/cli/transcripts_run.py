"""Runs the commands of the guide one after the other; a record is written only of what can be shown."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from probe_effect.cli import output
from probe_effect.errors import BadData, UsageError
from probe_effect.guide.commands import CommandOutput, faults, run, unmet, version
from probe_effect.host.mounts import mount_for_our_time
from probe_effect.machine import collect
from probe_effect.store.documents import write_document
from probe_effect.store.places import DataFolder
from probe_effect.store.transcripts import NO_COMMANDS, Recorded, Transcript, read_transcripts, recorded_file
from probe_effect.submit.private import FORMS, marks_of_host


def run_all(data: DataFolder, ids: Sequence[str], *, write: bool) -> int:
    """Run those with `ids`, or all, and return the exit status: 0 where each could be shown.

    Raises: BadData for an unsound document; UsageError for an id that there is not; HostNotReady where a record
        cannot be written.
    """
    mount_for_our_time()
    shown, problems = read_transcripts(data)
    if problems:
        raise BadData(problems)
    found = {one.transcript.id: one.transcript for one in shown}
    if unknown := [one for one in ids if one not in found]:
        raise UsageError(f"{', '.join(unknown)}: no transcript. Expected some of {', '.join(found)}.")
    wanted = [found[one] for one in ids] if ids else list(found.values())
    failed = [one.id for place, one in enumerate(wanted, 1) if not _one(data, one, f"{place}/{len(wanted)}", write)]
    output.say(f"{len(wanted) - len(failed)} of {len(wanted)} {'recorded' if write else 'as they should be'}")
    return 1 if failed else 0


def _one(data: DataFolder, one: Transcript, place: str, write: bool) -> bool:  # noqa: FBT001
    if lacking := unmet(one):
        output.say(f"{place} {one.id}: cannot be run here, which lacks {', '.join(lacking)}")
        return False
    output.say(f"{place} {one.id}")
    printed = run(one)
    wrong = [*faults(one, printed), *_private(printed)]
    if write and not wrong:
        write_document(recorded_file(data, one.id), recorded(one, printed))
        return True
    output.product("\n".join((f"$ {one.run}", *printed.output)))
    for fault in wrong:
        output.say(f"{one.id}: {fault}")
    return not wrong


def recorded(one: Transcript, printed: CommandOutput) -> Recorded:
    """The record of an output that was made here and now."""
    return Recorded(
        id=one.id,
        run=one.run,
        beside=one.beside,
        output=printed.output,
        exit_status=printed.exit_status or 0,
        machine=collect.collect_machine().id,
        kernel=collect.collect_system(None).kernel_release,
        versions={need: found for need in one.needs if need not in NO_COMMANDS and (found := version(need))},
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
    )


def _private(printed: CommandOutput) -> Iterator[str]:
    """What would tell whose machine it is."""
    patterns = [*((f"this machine's {mark.kind}", mark.pattern()) for mark in marks_of_host()), *FORMS]
    for kind, pattern in patterns:
        if found := next(filter(None, map(pattern.search, printed.output)), None):
            yield f"prints `{found[0]}`, {kind}"
