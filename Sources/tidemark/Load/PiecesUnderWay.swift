import TidemarkWorkload

/// Pieces whose records a client is sending: it reads them where they are.
final class PiecesUnderWay {
    private var pieces: [WorkloadPiece?] = []
    /// Records that are not delivered yet, by token.
    private var outstanding: [Int] = []
    private var free: [Int] = []
    private var current: (piece: WorkloadPiece, token: Int)?
    /// What becomes of a piece once all its records are delivered.
    var giveBack: (WorkloadPiece) -> Void = { _ in }

    /// How many pieces there are.
    var count: Int { pieces.count - free.count }

    /// The number by which ``delivered(_:)`` knows a piece; every record of the piece has to be delivered once.
    func token(of piece: WorkloadPiece) -> Int {
        if let current, current.piece === piece { return current.token }
        let token = free.popLast() ?? pieces.count
        if token == pieces.count {
            pieces.append(nil)
            outstanding.append(0)
        }
        pieces[token] = piece
        outstanding[token] = piece.count
        current = (piece, token)
        return token
    }

    /// Notes that a record was delivered.
    func delivered(_ token: Int) {
        outstanding[token] -= 1
        guard outstanding[token] == 0, let piece = pieces[token] else { return }
        pieces[token] = nil
        free.append(token)
        if current?.token == token { current = nil }
        giveBack(piece)
    }

    /// Leaves the memory of all pieces to the end of the process.
    func leave() {
        for case let piece? in pieces { _ = Unmanaged.passRetained(piece) }
    }
}
