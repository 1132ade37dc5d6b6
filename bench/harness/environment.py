"""The machine that the figures were taken on, and whether other programs were busy there."""

import datetime
import os
import pathlib
import platform
import resource
import subprocess
import time


def read(path):
    try:
        return pathlib.Path(path).read_text().strip()
    except OSError:
        return None


def cpu_lines(name):
    for line in (read("/proc/cpuinfo") or "").splitlines():
        if line.lower().startswith(name):
            yield line.split(":", 1)[1].strip()


def processor():
    """Its name, with the family, which tells apart processors that a hypervisor gives one name."""
    name, family = next(cpu_lines("model name"), platform.machine()), next(cpu_lines("cpu family"), None)
    return f"{name}, family {family}" if family else name


def groups_of_cpus():
    """In how many groups the CPUs of this process lie, of which each shares a node of memory and the last cache."""
    def near(cpu):
        folder = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}")
        caches = sorted(folder.glob("cache/index*"), key=lambda index: int(read(index / "level") or 0))
        return tuple(sorted(node.name for node in folder.glob("node*"))), read(caches[-1] / "shared_cpu_list") if caches else None

    return len({near(cpu) for cpu in os.sched_getaffinity(0)})


def commit():
    git = ["git", "-C", str(pathlib.Path(__file__).resolve().parent)]
    try:
        head = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True)
        changed = subprocess.run([*git, "status", "--porcelain", "--untracked-files=no"], capture_output=True, text=True)
    except OSError:
        return None
    if head.returncode != 0:
        return None
    return head.stdout.strip() + (" with changes" if changed.stdout.strip() else "")


class Load:
    """How many cores other programs have kept busy, and how many a hypervisor withheld, since this was made."""

    def __init__(self):
        self.began = time.monotonic()
        self.busy, self.withheld = self.counts()
        self.own = self.own_seconds()

    @staticmethod
    def counts():
        line = (read("/proc/stat") or "").partition("\n")[0].split()
        if len(line) < 9:
            return 0.0, 0.0
        user, nice, system, _, _, irq, softirq, steal = (int(v) / os.sysconf("SC_CLK_TCK") for v in line[1:9])
        return user + nice + system + irq + softirq, steal

    @staticmethod
    def own_seconds():
        total = 0.0
        for usage_of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
            usage = resource.getrusage(usage_of)
            total += usage.ru_utime + usage.ru_stime
        return total

    def others(self):
        busy, withheld = self.counts()
        seconds = time.monotonic() - self.began
        own = self.own_seconds() - self.own
        return max(0.0, busy - self.busy - own) / seconds, max(0.0, withheld - self.withheld) / seconds


class Conditions:
    """What other programs do on the machine: `before`, in the half second that this takes to be made, and during what is measured
    then."""

    def __init__(self):
        self.load_average = os.getloadavg()
        load = Load()
        time.sleep(0.5)
        self.before = {"others_before": load.others()}
        self.load = Load()

    def describe(self, context):
        """As below, with both, up to now."""
        return describe(context, self.load_average) | self.before | {"others_during": self.load.others()}


def describe(context, load_average):
    """context: what a benchmark's binary, or the build folder, says of how it was built."""
    return {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "commit": commit(),
        "cpu": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "governor": read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "kernel": platform.release(),
        "hypervisor": "hypervisor" in next(cpu_lines("flags"), "").split(),
        "load_average": list(load_average),
        **{name: context.get(name) for name in ("compiler", "flags", "assertions", "oneTBB", "OpenMP")},
    }
