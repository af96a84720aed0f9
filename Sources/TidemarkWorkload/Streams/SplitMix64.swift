internal import Foundation

/// A small generator of pseudo-random numbers: the same seed gives the same numbers on every machine.
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A generator that starts from a seed.
    public init(seed: UInt64) {
        state = seed
    }

    /// A generator for one part of something larger, independent of the generators of its other parts.
    init(_ whole: UInt64, _ part: UInt64) {
        state = Self.mix(Self.mix(whole) ^ part)
    }

    /// A generator for a part of a part.
    init(_ whole: UInt64, _ part: UInt64, _ second: UInt64) {
        state = Self.mix(SplitMix64(whole, part).state ^ second)
    }

    /// A generator for a part of a part of a part.
    init(_ whole: UInt64, _ part: UInt64, _ second: UInt64, _ third: UInt64) {
        state = Self.mix(SplitMix64(whole, part, second).state ^ third)
    }

    /// The next 64 random bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.finish(state)
    }

    /// A number that looks random and depends on nothing but another.
    static func mix(_ value: UInt64) -> UInt64 {
        finish(value &+ 0x9E37_79B9_7F4A_7C15)
    }

    private static func finish(_ value: UInt64) -> UInt64 {
        var bits = value
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    /// A number from 0 up to, but not including, a bound above zero.
    mutating func below(_ bound: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// A number within bounds, both included.
    mutating func number(_ bounds: ClosedRange<Int>) -> Int {
        bounds.lowerBound + below(bounds.upperBound - bounds.lowerBound + 1)
    }

    /// A number from 0 up to, but not including, 1.
    mutating func unit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// Whether something with a probability happens.
    mutating func chance(_ probability: Double) -> Bool {
        unit() < probability
    }

    /// A waiting time with a mean, never longer than a limit.
    mutating func wait(mean: Double, atMost limit: Int) -> Int {
        min(limit, Int(-mean * log(1 - unit())))
    }

    /// How often something happens in a period, given the probability that it does not happen at all.
    mutating func occurrences(noneWith probability: Double) -> Int {
        var count = 0
        var product = unit()
        while product > probability && count < 1_000 {
            count += 1
            product *= unit()
        }
        return count
    }

    /// One element of a collection that is not empty.
    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[below(elements.count)]
    }
}
