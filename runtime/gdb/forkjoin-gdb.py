"""For gdb: fibers, and backtraces that continue where a strand was stolen. Loaded by itself for programs that use the installed shared library;
for others: source forkjoin-gdb.py

    fj fibers      what fibers do, where they wait, and from which strand they were stolen or whose child they are; those that do the same share a line
    fj fibers all  a line for each fiber, free ones too
    fj bt [N]      the backtrace of the calling strand, or of fiber N, through the strands that it was stolen from, up to main's call of run
    bt             continues by itself through a parent that waits, if that one's stack lies above: gdb follows stacks only upwards

It reads only memory, with offsets that the library exports (forkjoin_v…_layout). It needs no debug information of the library, and
serves cores, too. x86-64 and 64-bit Arm."""

import bisect
import re

import gdb
import gdb.unwinder

STATES = ("free", "ready", "running", "in a blocking call", "runs a child", "waits")
FREE, READY, RUNNING, BLOCKING, FORKED, WAITING = range(6)
SYMBOL = "forkjoin_v0_4_layout"
MOST = 1_000_000  # fibers, and frames: of damaged memory


class Machine:
    """Where the assembly of the library, and Boost.Context, keep the registers of a strand that does not run: offsets from what
    fiber::context::registers says."""

    def __init__(self, pc, sp, fp, assembly, assembly_sp, boost, boost_sp):
        self.pc, self.sp, self.fp = pc, sp, fp
        self.assembly, self.boost = {**assembly, sp: assembly_sp}, {**boost, sp: boost_sp}


X86_64 = Machine("rip", "rsp", "rbp", {"r15": 8, "r14": 16, "r13": 24, "r12": 32, "rbx": 40, "rbp": 48, "rip": 56}, 64,
                 {"r12": 8, "r13": 16, "r14": 24, "r15": 32, "rbx": 40, "rbp": 48, "rip": 56}, 64)
AARCH64 = Machine("pc", "sp", "x29", {"x29": 0, "pc": 8, **{f"x{19 + i}": 16 + 8 * i for i in range(10)}}, 0xb0,
                  {**{f"x{19 + i}": 0x40 + 8 * i for i in range(11)}, "pc": 0xa0}, 0xb0)


def machine():
    name = gdb.selected_inferior().architecture().name()
    return AARCH64 if "aarch64" in name else X86_64 if "x86-64" in name else None


def word(address, size=8):
    return int.from_bytes(bytes(gdb.selected_inferior().read_memory(address, size)), "little")


def text(address):
    return gdb.Value(address).cast(gdb.lookup_type("char").pointer()).string(errors="replace", length=-1) if address else ""


UNNAMED = "(anonymous namespace)::", "{anonymous}::"
OPERATOR = re.compile(r"(?<![^: ])operator(?:\(\)| [^(]*|[<>=!+*/%&|^~,\[\]-]*)")
CLOSURE = re.compile(r"\{lambda\((?P<gcc>)|'lambda(?P<clang>\d*)'|\$_(?P<old>\d+)|<lambda\((?P<place>)|\(anonymous class\)(?=::operator\(\)\()(?P<other>)")


def behind_bracket(name, at):
    depth = 0
    for at in range(at, len(name)):
        c = name[at]
        depth += c in "(<{["
        depth -= c in ")}]" or c == ">" and name[at - 1:at] != "-"
        if depth == 0:
            return at + 1
    return len(name)


def without_arguments(name):
    """Of a symbol that gdb leaves as it is: the function's own name."""
    at, parts = re.match(r"_ZN?[KVRO]*", name).end(), []
    while length := re.compile(r"\d+").match(name, at):
        at = length.end() + int(length[0])
        parts.append(name[length.end():at])
    return "::".join(parts) or name


def demangled(name):
    try:
        return gdb.execute(f"demangle -l c++ -- {name}", to_string=True).rstrip("\n")
    except gdb.error:
        return name


def closure_at(name, found):
    """(what the closure is called that is found there, where its name ends)"""
    if found["clang"] is not None:
        return f"λ{int(found['clang'] or -1) + 2}", found.end()
    if found["old"] is not None:
        return f"λ{int(found['old']) + 1}", found.end()
    end = behind_bracket(name, found.start())
    number = re.search(r"#(\d+)\}$", name[found.start():end]) if found["gcc"] is not None else None
    return "λ" + (number[1] if number else ""), end


def name_of(function):
    """What a reader calls a function, of its symbol or of what std::source_location calls it: as os::name_of of the library does, of which
    test/process/symbol_names.txt is the test, too."""
    if function == "operator()":
        return "a closure"
    name = demangled(function) if function.startswith("_Z") else function
    if re.match("_GLOBAL__sub_I_|__static_initialization_and_destruction_|__cxx_global_var_init", name):
        return "a static initialiser"
    if name.startswith("_Z"):
        return without_arguments(name)
    for unnamed in UNNAMED:
        name = name.replace(unnamed, "")
    kept, at = "", 0
    while at < len(name):
        if found := OPERATOR.match(name, at):
            at = found.end() + name.startswith(" <", found.end())
            if found[0] != "operator()" or not re.search(r"λ\d*::$", kept):
                kept += found[0]
            else:
                kept = kept[:-2]
        elif found := CLOSURE.match(name, at):
            told, at = closure_at(name, found)
            kept += told
        elif re.compile(r"<unnamed |\(anonymous |\{unnamed ").match(name, at):
            kept, at = kept + "unnamed", behind_bracket(name, at)
        elif name[at] in "(<[":
            at = behind_bracket(name, at)
        elif found := re.compile(r" (?:const|volatile|noexcept|mutable)[a-z]*| &+ ?(?=$|::|\[)").match(name, at):
            at = found.end()
        elif name.startswith((" [", " (.", " requires "), at):
            break
        else:  # before these is the type
            kept, at = "" if name[at] in " *&" else kept + name[at], at + 1
    return kept or function  # of one whose result is a pointer to a function, nothing is left


class Layout:
    """See runtime/instances.cpp, which writes it: the same order."""

    NAMES = ("first_runtime next_runtime stacks small_stacks large_stacks large_pools pool_all fiber_size mapped_before number state mapping "
             "guard_size registers begun stolen stands_for join what file function line whose caller native by_assembly").split()

    def __init__(self):
        try:
            found = int(gdb.parse_and_eval(f"(unsigned long)&{SYMBOL}"))
        except gdb.error:
            raise gdb.GdbError("fj: this program has no forkjoin library of a version that this script knows, or does not run yet") from None
        self.runtimes = word(found)
        count = word(found + 8, 4)
        if count != len(self.NAMES):
            raise gdb.GdbError("fj: the library is of another version than this script")
        for i, name in enumerate(self.NAMES):
            setattr(self, name, word(found + 12 + 4 * i, 4))


class Fiber:
    def __init__(self, layout, at, runtime):
        self.at, self.runtime, self.layout = at, runtime, layout
        self.number, self.state = self.field("number", 4), self.field("state", 1)
        self.low = self.field("mapping") + self.field("guard_size")
        self.begun = bool(self.field("begun", 1))

    def field(self, name, size=8):
        return word(self.at + getattr(self.layout, name), size)

    def holds(self, address):
        return self.low <= address < self.at + self.layout.fiber_size

    def place(self):
        what = text(self.field("what"))
        if not what:
            return "at a join"
        line = self.field("line", 4)
        return f"in {what}" + (f", called by {name_of(text(self.field('function')))} at {text(self.field('file'))}:{line}" if line else "")


class All:
    """All fibers of all runtimes."""

    def __init__(self):
        of = self.layout = Layout()
        self.fibers = []
        runtime, number = word(of.runtimes + of.first_runtime), 1
        while runtime and number < MOST:
            pools = [runtime + of.stacks, runtime + of.small_stacks]
            pools += [pool for i in range(of.large_pools) if (pool := word(runtime + of.large_stacks + 8 * i))]
            for pool in pools:
                at = word(pool + of.pool_all)
                while at and len(self.fibers) < MOST:
                    self.fibers.append(Fiber(of, at, number))
                    at = word(at + of.mapped_before)
            runtime = word(runtime + of.next_runtime)
            number += 1
        self.by_stack = sorted(self.fibers, key=lambda fiber: fiber.low)
        self.lows = [fiber.low for fiber in self.by_stack]
        self.threads = {}  # fiber's address: the number of the thread on its stack
        here = gdb.selected_thread()
        for thread in gdb.selected_inferior().threads() if not Unwinder.inside else ():
            thread.switch()
            if fiber := self.on(int(gdb.newest_frame().read_register(machine().sp))):
                self.threads[fiber.at] = thread
        if here and not Unwinder.inside:
            here.switch()
        self.correct_states()

    def correct_states(self):
        """At the fork of a scope, release builds do not note that the parent's state changes, nor the child's."""
        for fiber in self.fibers:
            if fiber.at in self.threads and fiber.state != BLOCKING:
                fiber.state = RUNNING
            elif not fiber.begun and fiber.state in (RUNNING, FORKED):
                fiber.state = FREE
        for fiber in self.fibers:
            line = 0
            while fiber.state not in (FREE,) and not fiber.begun and line < MOST:
                parent = self.on(fiber.field("stands_for"))
                if not parent or parent is fiber:
                    break
                if parent.at not in self.threads and parent.state in (FREE, RUNNING, FORKED):
                    parent.state = FORKED
                fiber, line = parent, line + 1

    def on(self, address):
        """The fiber on whose stack the address lies."""
        below = bisect.bisect_right(self.lows, address)
        return self.by_stack[below - 1] if below and self.by_stack[below - 1].holds(address) else None

    def parent(self, fiber):
        """(the fiber that it was stolen from, or whose child it is; where on that one's stack; how)"""
        if fiber.begun:
            record = fiber.field("stolen")
            parent = self.on(record) if record else None
            return (parent, record, "stolen from") if parent else None
        record = fiber.field("stands_for")
        parent = self.on(record) if record else None
        if not parent or parent is fiber or fiber.state == FREE:
            return None
        return parent, word(parent.at + self.layout.registers), "a child of"

    def thread_on(self, fiber):
        """The thread that runs on its stack."""
        return self.threads.get(fiber.at)


def left(of, base):
    """The registers that a strand left there."""
    m = machine()
    offsets = m.assembly if of.layout.by_assembly else m.boost
    return {name: base + offset if name == m.sp else word(base + offset) for name, offset in offsets.items()}


def saved(of, fiber):
    """The registers of a strand that has left its stack, by name; None if it runs."""
    base = word(fiber.at + of.layout.registers)
    return left(of, base) if fiber.holds(base) and fiber.state in (WAITING, READY, FORKED) else None


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class Unwinder(gdb.unwinder.Unwinder):
    """Goes on from the first frame of a strand into the parent that waits for it, or has called it as a scope's child; or, while `shown` is set, from the newest frame into the
    strand that is to be shown."""

    shown = None  # (registers, where)
    inside = False  # while gdb unwinds, no other thread can be looked at

    def __init__(self):
        super().__init__("forkjoin")
        self.busy = False

    def __call__(self, pending):
        if self.busy or Unwinder.inside:
            return None
        self.busy = Unwinder.inside = True
        try:
            return self.find(pending)
        except (gdb.error, gdb.GdbError, gdb.MemoryError, ValueError):
            return None
        finally:
            self.busy = Unwinder.inside = False

    def find(self, pending):
        m = machine()
        if not m:
            return None
        sp, pc = int(pending.read_register(m.sp)), int(pending.read_register(m.pc))
        registers = None
        if Unwinder.shown:
            registers, start = Unwinder.shown
            if start != (sp, pc):
                registers = None
        if registers is None:
            symbol = gdb.execute(f"info symbol {pc}", to_string=True)
            is_first = "os::(anonymous namespace)::first_frame" in symbol or "_GLOBAL__N_1" in symbol and "first_frame" in symbol
            if not is_first and "_call_on_stack" not in symbol:
                return None
            of = All()
            fiber = of.on(sp)
            if fiber and not fiber.begun:
                of.threads[fiber.at] = None  # it is here that gdb looks
                of.correct_states()
            up = of.parent(fiber) if fiber else None
            if not up or up[2] == "stolen from" and up[0].state != WAITING:
                return None
            registers = saved(of, up[0])
        if not registers:
            return None
        # gdb takes a caller whose stack lies below for a damaged one. Of the newest frame it believes any address.
        if Unwinder.shown:
            sp = min(sp, registers[m.sp] - 16)
        elif registers[m.sp] < sp:
            return None
        pointer = gdb.lookup_type("char").pointer()
        info = pending.create_unwind_info(FrameId(gdb.Value(sp).cast(pointer), gdb.Value(pc).cast(pointer)))
        for name, value in registers.items():
            info.add_saved_register(name, gdb.Value(value).cast(gdb.lookup_type("unsigned long")))
        return info


def told(number, frame):
    sal, function = frame.find_sal(), frame.function()
    name = function.linkage_name if function else frame.name()  # what gdb calls a closure has no number
    name = name and name_of(name)
    place = f" at {sal.symtab.filename}:{sal.line}" if sal.symtab else ""
    return f"#{number:<3} {name or hex(frame.pc())}{place}"


def is_ours(frame):
    name = frame.name() or ""
    return re.match(r"fj::v\d+_\d+::detail::|boost::context|jump_fcontext|make_fcontext|forkjoin_v\w+", name) is not None


class Backtrace:
    def __init__(self):
        self.of, self.number, self.seen = All(), 0, set()

    def frames(self, frame, beyond=0):
        """Prints frames from there outward, of those above an address; returns the fiber of the last one."""
        sp_name, last = machine().sp, None
        while frame is not None and self.number < MOST:
            older = frame.older()
            sp = int(frame.read_register(sp_name))
            if sp >= beyond or older is not None and int(older.read_register(sp_name)) > beyond:
                fiber = self.of.on(sp)
                if fiber and fiber is not last:
                    if last is not None and fiber.at not in self.seen:
                        print(f"     -- of fiber {fiber.number}")
                    last = fiber
                    self.seen.add(fiber.at)
                print(told(self.number, frame))
                self.number += 1
            elif last is None:
                last = self.of.on(sp)
            frame = older
        return last

    def up(self, fiber):
        """The parents, until one is the first of its job."""
        while fiber is not None:
            parent = self.of.parent(fiber)
            if not parent:
                return self.caller(fiber)
            if parent[0].at in self.seen:
                return None
            above, record, how = parent
            self.seen.add(above.at)
            thread = self.of.thread_on(above)
            if thread:
                print(f"     -- {how} fiber {above.number}, which thread {thread.num} runs")
                here = gdb.selected_thread()
                thread.switch()
                try:
                    fiber = self.frames(gdb.newest_frame(), record) or above
                finally:
                    here.switch()
            else:
                print(f"     -- {how} fiber {above.number}, which {STATES[above.state]}" + (f" {above.place()}" if above.state == WAITING else ""))
                fiber = self.of_fiber(above) or above

    def caller(self, fiber):
        """The thread that called run, if the strand is the first of a job."""
        of = self.of.layout
        job = fiber.field("whose")
        caller = word(job + of.caller) if job else 0
        if not caller:
            print("     -- a fiber of fj::go, or of another runtime's job")
            return
        print("     -- which the thread that called run waits for")
        base, m = word(caller + of.native), machine()
        if any(fiber.holds(base) for fiber in self.of.fibers):
            return  # run was called within a blocking call, on a fiber's stack
        near = []
        here = gdb.selected_thread()
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            sp = int(gdb.newest_frame().read_register(m.sp))
            if not self.of.on(sp):
                near.append((abs(sp - base), thread))
        here.switch()
        distance, thread = min(near, key=lambda each: each[0], default=(1 << 62, None))
        if distance < 1 << 20:  # it sleeps, on its own stack
            thread.switch()
            self.frames(gdb.newest_frame())
            here.switch()
        else:  # it runs a strand
            self.from_registers(left(self.of, base))

    def of_fiber(self, fiber):
        registers = saved(self.of, fiber)
        return self.from_registers(registers) if registers else None

    def from_registers(self, registers):
        m, newest = machine(), gdb.newest_frame()
        Unwinder.shown = registers, (int(newest.read_register(m.sp)), int(newest.read_register(m.pc)))
        gdb.invalidate_cached_frames()
        try:
            return self.frames(gdb.newest_frame().older())
        finally:
            Unwinder.shown = None
            gdb.invalidate_cached_frames()


class Fj(gdb.Command):
    """Fibers of programs that use forkjoin: fj fibers [all], fj bt [N]."""

    def __init__(self):
        super().__init__("fj", gdb.COMMAND_STACK, prefix=True)

    def invoke(self, argument, from_tty):
        raise gdb.GdbError("fj fibers [all], or fj bt [N]")


class Fibers(gdb.Command):
    """fj fibers: what the fibers of each runtime do, and from which they were stolen; those that do the same at the same place share a line.
    With "all": a line for each fiber, free ones too."""

    def __init__(self):
        super().__init__("fj fibers", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        if argument.strip() not in ("", "all"):
            raise gdb.GdbError("fj fibers, or fj fibers all")
        of = All()
        several = len({fiber.runtime for fiber in of.fibers}) > 1
        lines = {}  # what they do, and a line's own number if each has its line: [(fiber, parent's number)]
        for fiber in sorted(of.fibers, key=lambda fiber: (fiber.runtime, fiber.number)):
            if fiber.state == FREE and not argument.strip():
                continue
            says = STATES[fiber.state]
            if fiber.state == WAITING:
                says += " " + fiber.place()
            elif fiber.state in (RUNNING, BLOCKING) and (thread := of.thread_on(fiber)):
                says += f" on thread {thread.num}"
            parent = of.parent(fiber) if fiber.state != FREE else None
            key = fiber.runtime, says, parent and parent[2], len(lines) if argument.strip() else None
            lines.setdefault(key, []).append((fiber, parent and parent[0].number))
        for (runtime, says, how, _), same in lines.items():
            others = f" and {len(same) - 1} more" if len(same) > 1 else ""
            if how:
                says += f"; {how} fiber {same[0][1]}" + (" or others" if len({number for _, number in same}) > 1 else "")
            print((f"runtime {runtime}, " if several else "") + f"fiber {same[0][0].number}{others}: {says}")


class Bt(gdb.Command):
    """fj bt [N]: the backtrace of the selected thread's strand, or of fiber N, and of the strands that it was stolen from."""

    def __init__(self):
        super().__init__("fj bt", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        trace = Backtrace()
        if argument.strip():
            if not re.fullmatch(r"\s*\d+\s*", argument):
                raise gdb.GdbError("fj bt takes the number of a fiber; fj fibers all lists them")
            wanted = int(argument)
            fiber = next((fiber for fiber in trace.of.fibers if fiber.number == wanted and fiber.state != FREE), None)
            if not fiber:
                raise gdb.GdbError(f"fj bt: there is no fiber {wanted}; fj fibers all lists them")
            trace.seen.add(fiber.at)
            thread = trace.of.thread_on(fiber)
            if thread:
                here = gdb.selected_thread()
                thread.switch()
                try:
                    last = trace.frames(gdb.newest_frame())
                finally:
                    here.switch()
            else:
                last = trace.of_fiber(fiber)
            trace.up(last or fiber)
        else:
            trace.up(trace.frames(gdb.newest_frame()))


gdb.unwinder.register_unwinder(None, Unwinder(), True)
Fj()
Fibers()
Bt()
