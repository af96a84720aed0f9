/// Why a registry did not do what it was asked.
public struct RegistryFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// Who has to do something about it.
    public enum Reason: Sendable, Equatable {
        /// Nobody: it cannot be reached or does not work, which may pass.
        case unavailable
        /// It does not know what was asked for.
        case unknown
        /// It does not take the schema: not compatible with those before, or not valid.
        case refused
        /// It does not let us in.
        case denied
        /// What answers is no registry, or is not trusted.
        case misconfigured
        /// The schema is of a kind that is not read.
        case unusable
        /// The request was ended from here.
        case cancelled

        /// Whether another URL of the same registry may do better.
        var concernsURL: Bool { self == .unavailable || self == .denied || self == .misconfigured }
    }

    /// Who has to do something about it.
    public let reason: Reason
    /// What was asked, which URL, what came, and what to do. Holds no secret.
    public let description: String

    /// The failures of all URLs as one: what may pass is waited for.
    static func all(_ failures: [RegistryFailure]) -> RegistryFailure {
        let first = failures.first { $0.reason == .unavailable } ?? failures[0]
        return RegistryFailure(
            reason: first.reason, description: failures.map(\.description).joined(separator: "; "))
    }
}

/// Makes the failures of one request to one URL.
struct FailureMaker {
    /// What was asked, to follow "cannot".
    let task: String
    /// The address of the registry.
    let address: String

    func failure(_ reason: RegistryFailure.Reason, _ what: String) -> RegistryFailure {
        RegistryFailure(reason: reason, description: "cannot \(task) at \(address): \(what)")
    }

    /// No answer came.
    func failure(_ failure: HTTPFailure) -> RegistryFailure {
        switch failure.kind {
        case .cancelled: self.failure(.cancelled, "stopped")
        case .timeout:
            self.failure(
                .unavailable, "no answer in time (\(failure.message)); `schema_registry.timeout` may be longer")
        case .unreachable: self.failure(.unavailable, "not reachable (\(failure.message))")
        case .notTrusted:
            self.failure(
                .misconfigured,
                "its certificate is not trusted (\(failure.message)); set `schema_registry.ca` to the PEM file of the authority that signed "
                    + "it, and use the name that the certificate is for")
        case .badCredentials:
            self.failure(
                .misconfigured,
                "TLS cannot be set up (\(failure.message)); check the files of `schema_registry.ca`, `schema_registry.certificate` and "
                    + "`schema_registry.key`, and `schema_registry.key_password`")
        case .tooLarge: self.failure(.misconfigured, "the answer is larger than 8 MiB; is this a schema registry?")
        case .redirected:
            self.failure(
                .misconfigured,
                "it redirects too often, or from https to http (\(failure.message)); write the final URL")
        case .badURL: self.failure(.misconfigured, "not a URL (\(failure.message))")
        case .other: self.failure(.unavailable, failure.message)
        }
    }

    /// An answer came that is none.
    func failure(_ answer: HTTPAnswer) -> RegistryFailure {
        let said = RegistryError(answer)
        let text = "answered \(answer.status)" + (said.message.map { " (\($0))" } ?? "")
        switch answer.status {
        case 401:
            return failure(
                .denied,
                "\(text): check `schema_registry.basic_auth`, `schema_registry.bearer_token` or the user in the URL")
        case 403: return failure(.denied, "\(text): this user may not do that; grant it access to the subject")
        case 404:
            if let code = said.code, (40_401...40_499).contains(code) { return failure(.unknown, text) }
            return failure(
                .misconfigured,
                "answered 404, and not as a schema registry does; `schema_registry.url` has to be where the Confluent-compatible API "
                    + "begins, for example http://host:8081 or http://host:8080/apis/ccompat/v7")
        case 409: return failure(.refused, "\(text): not compatible with the versions before")
        case 422: return failure(.refused, "\(text): not taken as a schema")
        case 408, 429, 500...: return failure(.unavailable, text)
        default: return failure(.misconfigured, "\(text); is this a schema registry?")
        }
    }

    /// The answer is no JSON, or not of the form that was to be expected.
    func notUnderstood(_ answer: HTTPAnswer) -> RegistryFailure {
        let start = answer.text.prefix(40).map { $0.isNewline ? " " : String($0) }.joined()
        return failure(
            .misconfigured,
            "answered \(answer.status) with something else than a schema registry does (begins with `\(start)`); check "
                + "`schema_registry.url`")
    }
}
