import Foundation
import Testing

@testable import TidemarkRegistry

extension RegistrySettings {
    init(_ urls: String..., change: (inout RegistrySettings) -> Void = { _ in }) throws {
        self.init()
        self.urls = try urls.map { try RegistryURL(parsing: $0) }
        change(&self)
    }
}

/// The failure that a call ends with.
func failure<Value>(_ call: () throws -> Value) throws -> RegistryFailure {
    do {
        let value = try call()
        Issue.record("no failure, but \(value)")
        throw CancellationError()
    } catch let failure as RegistryFailure {
        return failure
    }
}

/// What tests of a real registry need.
enum RealRegistry {
    /// Where one is, from `TIDEMARK_SCHEMA_REGISTRY`.
    static let url = ProcessInfo.processInfo.environment["TIDEMARK_SCHEMA_REGISTRY"]
}

extension Trait where Self == ConditionTrait {
    /// Skips, saying why, where there is no registry.
    static var needsRegistry: Self {
        .enabled(
            if: RealRegistry.url != nil, "set TIDEMARK_SCHEMA_REGISTRY to the URL of a Confluent-compatible registry")
    }
}
