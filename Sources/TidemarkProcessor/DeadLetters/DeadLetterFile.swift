internal import TidemarkEvents

/// Repaired dead letters, one a line, with what is wrong with them.
public struct DeadLetterFile: Sendable {
    /// Something that is wrong with a line.
    public struct Problem: Equatable, Sendable, CustomStringConvertible {
        /// The line, from 1.
        public var line: Int
        /// What is wrong with it.
        public var text: String

        /// Line and text.
        public var description: String { "line \(line): \(text)" }
    }

    /// The lines that could be read, with their numbers.
    public private(set) var lines: [(number: Int, line: DeadLetterLine)] = []
    /// What cannot be imported.
    public private(set) var problems: [Problem] = []

    /// Reads lines; empty ones are left out.
    public init(_ bytes: [UInt8]) {
        var numbers: [String: Int] = [:]
        bytes.withUnsafeBytes { bytes in
            var number = 0
            for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
                number += 1
                guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) else { continue }
                do throws(DeadLetterLine.Problem) {
                    let read = try DeadLetterLine(UnsafeRawBufferPointer(rebasing: line))
                    if let earlier = numbers[read.id] {
                        problems.append(
                            Problem(
                                line: number,
                                text:
                                    "has the same id as line \(earlier); where one dead letter becomes several records, end the ids with "
                                    + "#1, #2 and so on"))
                        continue
                    }
                    numbers[read.id] = number
                    lines.append((number, read))
                } catch {
                    problems.append(Problem(line: number, text: error.description))
                }
            }
        }
    }
}
