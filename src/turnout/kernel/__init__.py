"""The kernel's own interfaces, and nothing of ours: BPF objects, netlink, sysctls, namespaces."""
