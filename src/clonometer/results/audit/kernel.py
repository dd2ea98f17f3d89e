"""What the kernel does besides: mitigations, hardening, watching, preemption."""

from __future__ import annotations

from clonometer.results.audit.items import Facts, unknown
from clonometer.results.audit.types import FINE, NOTE, WARN, AuditItem

_CHEAP_LSM = {"capability", "lockdown", "yama", "landlock", "safesetid", "loadpin", "integrity", "ima", "evm", "bpf"}
# Flags of the command line that make every allocation dearer: they look for mistakes in the kernel.
_DEBUGGING = ("slub_debug", "slab_debug", "page_poison", "kfence.sample_interval")


def check_kernel(facts: Facts) -> list[AuditItem]:
    """Judge what the kernel does at each launch besides launching."""
    zeroing = [
        _zeroing(facts, "init_on_alloc", "Zeroing on allocation", "gets"),
        _zeroing(facts, "init_on_free", "Zeroing on free", "gives back"),
    ]
    checks = (_debugging, _mitigations, _audit, _seccomp, _modules, _preemption)
    return [*zeroing, *(check(facts) for check in checks)]


def _boot(flag: str) -> str:
    """Set a flag of the kernel's command line: the file and the steps are those of Debian and its kin."""
    # Placed last, because the last of a name counts.
    edit = f"""sudo sed -i 's/^\\(GRUB_CMDLINE_LINUX=".*\\)"/\\1 {flag}"/' /etc/default/grub"""
    return f"{edit} && sudo update-grub && sudo reboot"


def _unboot(names: list[str]) -> str:
    """Remove flags from the kernel's command line."""
    edits = " ".join(f"-e 's/ *{name}[^ \"]*//'" for name in names)
    return f"sudo sed -i {edits} /etc/default/grub && sudo update-grub && sudo reboot"


def _zeroing(facts: Facts, name: str, title: str, verb: str) -> AuditItem:
    key = f"kernel.{name}"
    on = facts.get(key, bool)
    id_ = f"kernel.{name}"
    if on is None:
        return unknown(facts, key, id_, title, f"Where it is on, the kernel zeroes each page that a launch {verb}.")
    if on:
        effect = (
            f"The kernel zeroes each page and object that a launch {verb}: page tables, stacks and copies cost more."
        )
        return AuditItem(id_, title, "on", WARN, effect, _boot(f"{name}=0"))
    return AuditItem(id_, title, "off", FINE, f"Pages that a launch {verb} are not zeroed for hardening.")


def _debugging(facts: Facts) -> AuditItem:
    id_, title, key = "kernel.debugging", "Memory debugging", "kernel.cmdline_flags"
    if facts.get(key, list) is None:
        return unknown(facts, key, id_, title, "Checks of the kernel's own memory make each launch slower.")
    names = [name for name in facts.flags() if name in _DEBUGGING]
    if names:
        flags = [f"{name}={facts.flags()[name]}".removesuffix("=") for name in names]
        effect = "The kernel checks its own allocations: every structure that a launch creates costs more."
        return AuditItem(id_, title, ", ".join(flags), WARN, effect, _unboot(names))
    return AuditItem(id_, title, "off", FINE, "The kernel's command line enables none.")


def _mitigations(facts: Facts) -> AuditItem:
    id_, title, key = "kernel.mitigations", "Mitigations", "mitigations.summary"
    summary = facts.get(key, str)
    if summary is None:
        return unknown(facts, key, id_, title, "Mitigations slow down kernel entry and indirect calls.")
    asked = facts.flags().get("mitigations", "")
    value = f"{summary} (mitigations={asked})" if asked else summary
    if summary == "none":
        effect = "Entering the kernel costs only what the processor needs; most production machines pay more."
        return AuditItem(id_, title, value, NOTE, effect)
    kpti = "KPTI" in summary.replace("no KPTI", "")
    effect = (
        "Each entry into the kernel switches page tables, and fork builds them twice."
        if kpti
        else "Indirect calls and returns in the kernel cost more; compare only machines with the same mitigations."
    )
    # No command that can be pasted: it would open the machine, and whoever else uses it, to attacks.
    effect += (
        " Leave them on: they protect everybody on the machine. Only a separate test machine, booted without them, "
        "shows what they cost."
    )
    return AuditItem(id_, title, value, WARN if kpti else NOTE, effect)


def _audit(facts: Facts) -> AuditItem:
    id_, title, key = "kernel.audit", "Audit", "kernel.audit"
    on = facts.get(key, bool)
    if on is None:
        effect = "If rules are loaded, each system call takes the slow path; 'sudo auditctl -s' shows them."
        return unknown(facts, key, id_, title, effect)
    if on:
        effect = "Each system call takes the slow path, and each launch gets an audit context."
        return AuditItem(id_, title, "on", WARN, effect, "sudo auditctl -e 0")
    return AuditItem(id_, title, "off", FINE, "System calls are not audited.")


def _seccomp(facts: Facts) -> AuditItem:
    id_, title, key = "kernel.seccomp", "Seccomp", "security.seccomp"
    mode = facts.get(key, int)
    if mode is None:
        return unknown(facts, key, id_, title, "A filter runs at each system call, and each child inherits it.")
    if mode == 0:
        return AuditItem(id_, title, "no filter", FINE, "System calls are not filtered.")
    effect = (
        "A filter runs at each system call and is inherited by each child; it may refuse clone3 and namespaces, which "
        "then cannot be measured."
    )
    docker = facts.get("virt.container", str) == "docker"
    command = "docker run --security-opt seccomp=unconfined ..." if docker else None
    return AuditItem(id_, title, "strict" if mode == 1 else "filter", WARN, effect, command)


def _modules(facts: Facts) -> AuditItem:
    id_, title, key = "kernel.lsm", "Security modules", "security.lsm"
    modules = facts.get(key, list)
    if modules is None:
        return unknown(facts, key, id_, title, "Security modules check each exec and each new task.")
    heavy = [name for name in modules if name not in _CHEAP_LSM]
    value = ", ".join(modules) or "none"
    if heavy:
        effect = f"{' and '.join(heavy)} check each exec and label each task: launches of new programs cost more."
        return AuditItem(id_, title, value, NOTE, effect, "sudo aa-status" if "apparmor" in heavy else "sestatus")
    return AuditItem(id_, title, value, FINE, "None of these affects launches.")


def _preemption(facts: Facts) -> AuditItem:
    id_, title, key = "kernel.preemption", "Preemption", "kernel.preemption"
    mode = facts.get(key, str)
    if mode is None:
        return unknown(facts, key, id_, title, "A preemptible kernel may run the child before the parent.")
    if mode in ("full", "rt"):
        effect = (
            "The kernel itself can be preempted: locks cost more, and a new task may run before its parent's call "
            "returns."
        )
        return AuditItem(id_, title, mode, NOTE, effect, _boot("preempt=none") if mode == "full" else None)
    return AuditItem(id_, title, mode, FINE, "A launch is not interrupted inside the kernel.")
