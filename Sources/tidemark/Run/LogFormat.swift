import Foundation
import TidemarkProcessor

/// How the log of `run` is written.
enum LogFormat: String, CaseIterable, Sendable {
    /// The message alone, for people.
    case text
    /// `key=value` pairs.
    case logfmt
    /// One JSON object a line.
    case json

    /// Text where a person watches, pairs elsewhere.
    static func usual(_ terminal: Terminal) -> LogFormat { terminal.isInteractive ? .text : .logfmt }

    /// A line without its end.
    func render(_ line: LogLine, time: Date) -> String {
        if self == .text { return line.message }
        var fields = [
            (LogKeys.time, LogFormat.text(of: time)), (LogKeys.level, line.level.rawValue),
            (LogKeys.application, line.application),
        ]
        if let instance = line.instance { fields.append((LogKeys.instance, instance)) }
        if let loop = line.loop { fields.append((LogKeys.worker, loop)) }
        if let partition = line.partition { fields.append((LogKeys.partition, "\(partition)")) }
        fields.append((LogKeys.message, line.message))
        return self == .json ? LogFormat.object(fields) : LogFormat.pairs(fields)
    }

    private static func text(of time: Date) -> String {
        time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    private static func object(_ fields: [(String, String)]) -> String {
        let members = fields.map { key, value in
            // The partition is the only number.
            "\(quoted(key)):" + (key == LogKeys.partition ? value : quoted(value))
        }
        return "{\(members.joined(separator: ","))}"
    }

    private static func pairs(_ fields: [(String, String)]) -> String {
        fields.map { key, value in "\(key)=\(isPlain(value) ? value : quoted(value))" }.joined(separator: " ")
    }

    private static func isPlain(_ value: String) -> Bool {
        !value.isEmpty
            && value.unicodeScalars.allSatisfy {
                $0.value > 32 && $0.value < 127 && $0 != "\"" && $0 != "=" && $0 != "\\"
            }
    }

    /// A JSON string; control characters are escaped, so that a line stays one.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case _
            where scalar.value < 32 || scalar.value == 127 || (0x80...0x9f).contains(scalar.value)
                || scalar.value == 0x2028 || scalar.value == 0x2029:
                quoted += String(format: "\\u%04x", scalar.value)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
