#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The system's words for an error code.
func errorText(_ code: Int32) -> String { String(cString: strerror(code)) }
