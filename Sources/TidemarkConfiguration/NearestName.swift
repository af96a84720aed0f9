/// Finds the name that a mistyped one most probably stands for.
///
/// - Parameters:
///   - typed: what was written.
///   - names: the names that exist; of equally near ones the first wins.
/// - Returns: the nearest name, `nil` only when `names` is empty.
public func nearestName(to typed: String, among names: some Sequence<String>) -> String? {
    names.map { (name: $0, distance: typingDistance(typed, $0)) }.min { $0.distance < $1.distance }?.name
}

/// Like `nearestName`, for dotted keys: a right last part under a wrong or missing section counts as near, too.
func nearestKey(to typed: String, among keys: [String]) -> String? {
    func leaf(_ key: String) -> String { String(key.split(separator: ".").last ?? "") }
    let typedLeaf = leaf(typed)
    let ranked = keys.map { key in
        (key: key, distance: min(typingDistance(typed, key), 3 + 2 * typingDistance(typedLeaf, leaf(key))))
    }
    return ranked.min { $0.distance < $1.distance }?.key
}

/// The number of slips between two words: a character missing, added, changed, or swapped with its neighbour.
func typingDistance(_ first: String, _ second: String) -> Int {
    let left = Array(first.unicodeScalars)
    let right = Array(second.unicodeScalars)
    if left.isEmpty || right.isEmpty { return max(left.count, right.count) }
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for row in 1...left.count {
        var current = [row] + Array(repeating: 0, count: right.count)
        for column in 1...right.count {
            let change = left[row - 1] == right[column - 1] ? 0 : 1
            current[column] = min(last[column] + 1, current[column - 1] + 1, last[column - 1] + change)
            let isSwap =
                row > 1 && column > 1 && left[row - 1] == right[column - 2] && left[row - 2] == right[column - 1]
            if isSwap {
                current[column] = min(current[column], beforeLast[column - 2] + 1)
            }
        }
        beforeLast = last
        last = current
    }
    return last[right.count]
}
