"""The trace as Perfetto's own: a Trace of TracePackets with TrackEvents (protobuf, perfetto/trace/*.proto)."""

import struct

# TracePacket: timestamp 8, trusted_packet_sequence_id 10, track_event 11, sequence_flags 13, track_descriptor 60.
# TrackDescriptor: uuid 1, name 2, process 3 (pid 1, process_name 6), counter 8, parent_uuid 5. TrackEvent: type 9, track_uuid 11, name 23,
# flow_ids 47 (fixed64), terminating_flow_ids 48 (fixed64), counter_value 30.
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
PROCESS, PROCS, STRANDS, READY, BUSY = 1, 1_000, 1_000_000, 2, 3


def varint(value):
    found = bytearray()
    while value > 0x7f:
        found.append(value & 0x7f | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def number(field, value):
    return varint(field << 3) + varint(value)


def fixed(field, value):
    return varint(field << 3 | 1) + struct.pack("<Q", value)


def text(field, value):
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def packet(at, *parts):
    body = number(8, max(int(at), 0)) + number(10, 1) + b"".join(parts)
    return text(1, body)


def track(uuid, name, *parts):
    return packet(0, text(60, number(1, uuid) + text(2, name) + b"".join(parts)))


def event(at, kind, uuid, name=None, *parts):
    body = number(9, kind) + number(11, uuid) + (text(23, name) if name is not None else b"") + b"".join(parts)
    return packet(at, text(11, body))


def write(story, out):
    out.write(packet(0, number(13, 1)))  # the state of the sequence begins
    out.write(packet(0, text(60, number(1, PROCESS) + text(3, number(1, story.file.pid) + text(6, f"forkjoin, {story.procs} P")))))
    parent = number(5, PROCESS)
    for proc in range(story.procs):
        out.write(track(PROCS + proc, f"P {proc}", parent))
    out.write(track(BUSY, "busy P", parent, text(8, b"")))
    out.write(track(READY, "ready strands", parent, text(8, b"")))
    events = []
    base = story.begin
    flow = 0
    for strand in story.strands:
        uuid, name = STRANDS + strand.number, story.told(strand.name)
        out.write(track(uuid, f"{strand.number} {name}", parent))
        for run in strand.runs:
            if run.end <= run.begin:
                continue
            for lane in (uuid, PROCS + run.proc) if run.proc < story.procs else (uuid,):
                events.append((run.begin, 1, event(run.begin - base, BEGIN, lane, name)))
                events.append((run.end, 0, event(run.end - base, END, lane)))
        for wait in strand.waits:
            end = wait.end if wait.end is not None else story.end
            if end > wait.begin and wait.why != "fj::blocking":
                events.append((wait.begin, 1, event(wait.begin - base, BEGIN, uuid, f"waits: {wait.why}")))
                events.append((end, 0, event(end - base, END, uuid)))
    for steal in story.steals:
        flow += 1
        if steal.victim_proc < story.procs:
            events.append((steal.at, 2, event(steal.at - base, INSTANT, PROCS + steal.victim_proc, "stolen from", fixed(47, flow))))
        if steal.strand.runs and steal.strand.runs[0].proc < story.procs:
            run = steal.strand.runs[0]
            events.append((run.begin, 2, event(run.begin - base, INSTANT, PROCS + run.proc, "steal", fixed(48, flow))))
    for mark in story.marks:
        if mark.proc < story.procs:
            events.append((mark.at, 2, event(mark.at - base, INSTANT, PROCS + mark.proc, f"{mark.kind} {mark.text}".strip())))
    for begin, _, count in story.busy_procs():
        events.append((begin, 2, event(begin - base, COUNTER, BUSY, None, number(30, count))))
    now = 0
    for at, change in ready_changes(story):
        now += change
        events.append((at, 2, event(at - base, COUNTER, READY, None, number(30, max(now, 0)))))
    # A slice ends before the next one of its lane begins.
    for _, _, data in sorted(events, key=lambda each: each[:2]):
        out.write(data)


def ready_changes(story):
    """[(when, 1 or -1)]: a strand becomes ready, or goes on."""
    changes = []
    for wait in story.waits:
        if wait.ready is not None:
            changes.append((wait.ready, 1))
            if wait.end is not None:
                changes.append((wait.end, -1))
    return sorted(changes)
