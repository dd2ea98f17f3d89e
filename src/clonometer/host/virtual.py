"""Facts of virtualisation: the hypervisor below and the container around."""

from __future__ import annotations

import re
from contextlib import suppress

from clonometer.host.registry import register, register_file
from clonometer.host.source import FactUnavailable, Source

_DMI = "/sys/class/dmi/id"
# What the firmware of virtual machines calls itself, in sys_vendor, product_name and board_vendor.
_FIRMWARE = (
    ("vmware", "VMware"),
    ("virtualbox", "VirtualBox"),
    ("innotek", "VirtualBox"),
    ("parallels", "Parallels"),
    ("apple virtualization", "Apple"),
    ("bhyve", "bhyve"),
    ("hvm domu", "Xen"),
    ("xen", "Xen"),
    ("google compute engine", "KVM"),
    ("kvm", "KVM"),
    ("openstack", "KVM"),
    ("ovirt", "KVM"),
    ("digitalocean", "KVM"),
    ("hetzner vserver", "KVM"),
    ("scaleway", "KVM"),
    ("alibaba cloud ecs", "KVM"),
    ("firecracker", "KVM"),
    ("qemu", "QEMU"),
    ("bochs", "QEMU"),
)
_CONTAINER_PATHS = (
    (re.compile(r"kubepods"), "kubernetes"),
    (re.compile(r"libpod"), "podman"),
    (re.compile(r"/docker[/-]"), "docker"),
    (re.compile(r"/(lxc|lxc\.payload)[./]"), "lxc"),
    (re.compile(r"containerd"), "containerd"),
)


def _by_firmware(source: Source) -> str | None:
    names = ("sys_vendor", "product_name", "board_vendor", "bios_vendor")
    text = " ".join(source.text_or(f"{_DMI}/{name}", "") for name in names).lower()
    if "microsoft corporation" in text and "virtual machine" in text:
        return "Hyper-V"
    if "amazon ec2" in text:
        # Bare metal and Xen call themselves the same; only Nitro's guests have neither of the other marks.
        metal = ".metal" in text
        return None if metal else "KVM"
    return next((name for words, name in _FIRMWARE if words in text), None)


def _by_devices(source: Source) -> str | None:
    """The hypervisor by what it leaves in sysfs and the device tree: its own word first, then its clocks."""
    with suppress(FactUnavailable):
        kind = source.text("/sys/hypervisor/type")
        return "Xen" if kind == "xen" else kind
    clocks = source.text_or("/sys/devices/system/clocksource/clocksource0/available_clocksource", "").split()
    for mark, name in (("kvm-clock", "KVM"), ("hyperv_clocksource_tsc_page", "Hyper-V"), ("xen", "Xen")):
        if any(clock.startswith(mark) for clock in clocks):
            return name
    if source.exists("/sys/bus/vmbus"):
        return "Hyper-V"
    compatible = source.text_or("/proc/device-tree/hypervisor/compatible", "")
    for mark, name in (("kvm", "KVM"), ("xen", "Xen"), ("vmware", "VMware")):
        if mark in compatible:
            return name
    # The haltpoll driver loads on KVM guests only.
    idle = source.text_or("/sys/devices/system/cpu/cpuidle/current_driver", "")
    return "KVM" if idle == "haltpoll" else None


@register("virt.hypervisor", "text", "what the machine runs on; none on bare metal")
def _hypervisor(source: Source) -> str:
    fields = source.fields("/proc/cpuinfo")
    flagged = "hypervisor" in fields.get("flags", "").split()
    # x86 has a flag for it, so that firmware which sounds virtual cannot mislead; ARM has none.
    if "flags" in fields and not flagged:
        return "none"
    name = _by_firmware(source) or _by_devices(source)
    if name is not None:
        return name
    return "unknown" if flagged else "none"


register_file(
    "virt.product",
    "text",
    f"{_DMI}/product_name",
    "what the firmware calls the machine; on many clouds the instance type",
)


@register("virt.container", "text", "the container around this process; none where there is none")
def _container(source: Source) -> str:
    """By the marks that engines leave, the surest first; paths of control groups before an empty file."""
    if source.exists("/run/.containerenv"):
        return "podman"
    with suppress(FactUnavailable):
        named = source.text("/run/systemd/container")
        if named:
            return named
    with suppress(FactUnavailable):
        for word in source.text("/proc/1/environ").split("\x00"):
            if word.startswith("container=") and word != "container=":
                return word.removeprefix("container=")
    paths = source.text_or("/proc/self/cgroup", "") + "\n" + source.text_or("/proc/1/cgroup", "")
    for pattern, name in _CONTAINER_PATHS:
        if pattern.search(paths):
            return name
    if source.exists("/.dockerenv"):
        return "docker"
    if not paths.strip():
        raise FactUnavailable("/proc/self/cgroup cannot be read")
    return "none"
