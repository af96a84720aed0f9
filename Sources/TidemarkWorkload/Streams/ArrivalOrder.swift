extension [WorkloadEvent] {
    /// Sorts events that all arrive within `seconds` from a time on into the order of the stream.
    ///
    /// The events of a second are brought together by counting, which leaves short runs to be compared.
    mutating func sortByArrival(from start: Int, seconds: Int) {
        guard count > 1 else { return }
        var ends = [Int32](repeating: 0, count: seconds)
        for event in self { ends[Int(event.arrival) - start] += 1 }
        var total: Int32 = 0
        for second in 0..<seconds {
            // For now the beginning of the second's run; it moves on to the end as the run is filled.
            (ends[second], total) = (total, total + ends[second])
        }
        let sorted = [WorkloadEvent](unsafeUninitializedCapacity: count) { buffer, initialized in
            for event in self {
                let second = Int(event.arrival) - start
                buffer.initializeElement(at: Int(ends[second]), to: event)
                ends[second] += 1
            }
            initialized = self.count
            var begin = 0
            for end in ends where Int(end) > begin {
                UnsafeMutableBufferPointer(rebasing: buffer[begin..<Int(end)]).sortRun()
                begin = Int(end)
            }
        }
        self = sorted
    }
}

extension UnsafeMutableBufferPointer<WorkloadEvent> {
    /// Up to this length a run is sorted by insertion.
    private static var shortRun: Int { 24 }

    /// Sorts the events of one second; equal ones keep their order.
    fileprivate func sortRun() {
        guard count <= Self.shortRun else {
            var run = self
            return run.sort(by: Workload.arrivesEarlier)
        }
        for place in indices.dropFirst() {
            let event = self[place]
            var free = place
            while free > 0, Workload.arrivesEarlier(event, self[free - 1]) {
                self[free] = self[free - 1]
                free -= 1
            }
            self[free] = event
        }
    }
}
