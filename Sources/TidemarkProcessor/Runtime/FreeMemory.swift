internal import CTidemark

/// Memory that was freed, but that the allocator has kept.
public enum FreeMemory {
    /// Gives it back to the system.
    ///
    /// Reading state back, or a backlog, passes many times what stays of it through buffers of the client. The allocator would keep them for
    /// good: here and there something small that lives on stands above them. It takes some milliseconds, so that it is for after a
    /// restore or a backlog, and for when memory is short.
    static func giveBack() { tidemark_give_memory_back() }

    /// Has the allocator keep it from now on.
    ///
    /// For a program that takes and frees large blocks all the time, as a producer does for every batch: to get them from the system anew costs
    /// as much as what is done with them.
    public static func keep() { tidemark_keep_freed_memory() }
}
