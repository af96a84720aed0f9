internal import TidemarkAttribution
internal import TidemarkEvents
internal import TidemarkReports

/// The fields of one record of the report topic, with their types checked as they are asked for. Its texts are views of the record.
struct PublishedFields {
    /// The fields that hold texts, in the order in which they are written; the first nine make the record key.
    enum Text: Int, CaseIterable {
        case row, channel, campaignID, messageVariationID, canvasID, canvasVariationID, canvasStepID, platform, day
        case timeZone, campaignName, messageVariationName, canvasName, canvasVariationName, canvasStepName

        static let keyCount = 9

        var name: StaticString {
            switch self {
            case .row: "row"
            case .channel: "channel"
            case .campaignID: "campaign_id"
            case .messageVariationID: "message_variation_id"
            case .canvasID: "canvas_id"
            case .canvasVariationID: "canvas_variation_id"
            case .canvasStepID: "canvas_step_id"
            case .platform: "platform"
            case .day: "day"
            case .timeZone: "time_zone"
            case .campaignName: "campaign_name"
            case .messageVariationName: "message_variation_name"
            case .canvasName: "canvas_name"
            case .canvasVariationName: "canvas_variation_name"
            case .canvasStepName: "canvas_step_name"
            }
        }
    }

    /// A field as it stands in the record.
    enum Field<Value> {
        case absent, wrong
        case value(Value)
    }

    var texts = InlineArray<15, Field<ByteView>>(repeating: .absent)
    var revision = Field<Int64>.absent
    var asOf = Field<Int64>.absent
    /// Parts of `attribution`; null where it has none.
    var model = ByteView.null
    var window = ByteView.null
    /// Where `metrics` begins, if it is an object.
    private var metrics: JSONReader.Mark?

    /// Reads the value of a record.
    init(record json: inout JSONReader) throws(PublishedRow.Malformed) {
        do throws(JSONReader.Broken) {
            try json.openObject()
            var expected = 0
            while let name = try json.nextKey() { try take(name, &expected, &json) }
            guard json.isAtEnd() else { throw JSONReader.Broken() }
        } catch {
            throw PublishedRow.Malformed("not a JSON object")
        }
    }

    /// Reads the key of a record.
    init(key json: inout JSONReader) throws(PublishedRow.Malformed) {
        do throws(JSONReader.Broken) {
            try json.openArray()
            for place in 0..<Text.keyCount {
                guard try json.nextElement() else { throw JSONReader.Broken() }
                texts[place] = try PublishedFields.text(&json)
            }
            guard try !json.nextElement(), json.isAtEnd() else { throw JSONReader.Broken() }
        } catch {
            throw PublishedRow.Malformed("the record key is not an array of \(Text.keyCount) parts")
        }
    }

    // MARK: Taking

    /// - Parameter expected: which text comes next if the record is one of ours; that spares looking for it.
    private mutating func take(
        _ name: ByteView, _ expected: inout Int, _ json: inout JSONReader
    ) throws(JSONReader.Broken) {
        if let place = PublishedFields.place(of: name, expected) {
            expected = place + 1
            texts[place] = try PublishedFields.text(&json)
        } else if name.holds("metrics") {
            metrics = json.kind() == .object ? json.mark : nil
            try json.skip()
        } else if name.holds("revision") {
            revision = try PublishedFields.integer(&json)
        } else if name.holds("as_of") {
            asOf = try PublishedFields.integer(&json)
        } else if name.holds("attribution"), json.kind() == .object {
            try takeAttribution(&json)
        } else {
            try json.skip()
        }
    }

    private static func place(of name: ByteView, _ expected: Int) -> Int? {
        if let text = Text(rawValue: expected), name.holds(text.name) { return expected }
        return Text.allCases.first { name.holds($0.name) }?.rawValue
    }

    private mutating func takeAttribution(_ json: inout JSONReader) throws(JSONReader.Broken) {
        try json.openObject()
        while let name = try json.nextKey() {
            let (isModel, isWindow) = (name.holds("model"), name.holds("window"))
            guard isModel || isWindow, case .value(let text) = try PublishedFields.text(&json) else {
                if !isModel, !isWindow { try json.skip() }
                continue
            }
            if isModel { model = text } else { window = text }
        }
    }

    private static func text(_ json: inout JSONReader) throws(JSONReader.Broken) -> Field<ByteView> {
        if json.kind() == .text { return .value(try json.text()) }
        if json.skipNull() { return .absent }
        try json.skip()
        return .wrong
    }

    private static func integer(_ json: inout JSONReader) throws(JSONReader.Broken) -> Field<Int64> {
        if json.kind() == .number { return try json.integer().map { .value($0) } ?? .wrong }
        if json.skipNull() { return .absent }
        try json.skip()
        return .wrong
    }

    // MARK: Asking

    /// The text of a field; `nil` where the record has none or null.
    func text(_ field: Text) throws(PublishedRow.Malformed) -> ByteView? {
        switch texts[field.rawValue] {
        case .absent: return nil
        case .wrong: throw PublishedRow.Malformed("`\(field.name)` is not a text or null")
        case .value(let text): return text
        }
    }

    func key(_ vocabulary: Vocabulary) throws(PublishedRow.Malformed) -> RowKey {
        guard let kind = RowKind(name: try required(.row)) else { throw unknown(.row) }
        guard let channel = Channel(name: try required(.channel)) else { throw unknown(.channel) }
        var day = RowKey.noDay
        if let text = try text(.day) {
            guard let number = DayTable.day(iso: text) else { throw unknown(.day) }
            day = number
        }
        guard (day == RowKey.noDay) == (kind == .campaignTotal) else {
            throw PublishedRow.Malformed("`day` does not fit a row of kind \(kind.name)")
        }
        let platform = kind == .messageDay ? try required(.platform) : .null
        return RowKey(
            kind: kind, channel: channel, subject: try subject(kind, vocabulary),
            platform: vocabulary.strings.intern(platform), day: day)
    }

    private func subject(_ kind: RowKind, _ vocabulary: Vocabulary) throws(PublishedRow.Malformed) -> UInt32 {
        var message = MessageKey()
        message.campaign = try number(.campaignID, vocabulary)
        message.messageVariation = try number(.messageVariationID, vocabulary)
        message.canvas = try number(.canvasID, vocabulary)
        message.canvasVariation = try number(.canvasVariationID, vocabulary)
        message.canvasStep = try number(.canvasStepID, vocabulary)
        if kind == .messageDay { return vocabulary.message(message) }
        var campaign = CampaignKey()
        campaign.campaign = message.campaign
        campaign.canvas = message.canvas
        campaign.canvasStep = message.canvasStep
        return vocabulary.campaign(campaign)
    }

    func names(_ vocabulary: Vocabulary) throws(PublishedRow.Malformed) -> InlineArray<5, UInt32> {
        var names = InlineArray<5, UInt32>(repeating: 0)
        names[0] = try number(.campaignName, vocabulary)
        names[1] = try number(.messageVariationName, vocabulary)
        names[2] = try number(.canvasName, vocabulary)
        names[3] = try number(.canvasVariationName, vocabulary)
        names[4] = try number(.canvasStepName, vocabulary)
        return names
    }

    private func number(_ field: Text, _ vocabulary: Vocabulary) throws(PublishedRow.Malformed) -> UInt32 {
        vocabulary.strings.intern(try text(field) ?? .null)
    }

    private func required(_ field: Text) throws(PublishedRow.Malformed) -> ByteView {
        guard let text = try text(field) else { throw PublishedRow.Malformed("`\(field.name)` is missing") }
        return text
    }

    private func unknown(_ field: Text) -> PublishedRow.Malformed {
        guard case .value(let text) = texts[field.rawValue] else { return PublishedRow.Malformed("") }
        return PublishedRow.Malformed("`\(field.name)` has the unknown value \(text.text ?? "")")
    }
}

// MARK: - Metrics

extension PublishedFields {
    /// What `metrics` holds: the counters of the row, and the clicks of buttons, numbers of the vocabulary.
    struct Metrics {
        var counters = InlineArray<16, Int64>(repeating: 0)
        var clicks: [(button: UInt32, count: Int64)] = []
    }

    /// Reads the metrics, which have to wait until the channel is known.
    ///
    /// - Parameter json: the record, which has been read to its end.
    func metrics(
        of channel: Channel, _ vocabulary: Vocabulary, _ json: inout JSONReader
    ) throws(PublishedRow.Malformed) -> Metrics {
        guard let mark = metrics else { throw PublishedRow.Malformed("`metrics` is not an object") }
        json.goBack(to: mark)
        let result: Result<Metrics, PublishedRow.Malformed>
        do throws(JSONReader.Broken) {
            result = try PublishedFields.metrics(channel, vocabulary, &json)
        } catch {
            preconditionFailure("what was skipped is valid")
        }
        return try result.get()
    }

    private static func metrics(
        _ channel: Channel, _ vocabulary: Vocabulary, _ json: inout JSONReader
    ) throws(JSONReader.Broken) -> Result<Metrics, PublishedRow.Malformed> {
        var result = Metrics()
        let known = Metric.all(of: channel)
        var expected = 0
        try json.openObject()
        while let name = try json.nextKey() {
            var place: Int? = expected
            if expected >= known.count || !name.holds(known[expected].field) {
                place = known.firstIndex { name.holds($0.field) }
            }
            expected = (place ?? expected) + 1
            switch place.map({ known[$0].source }) {
            case .counter(let counter):
                guard json.kind() == .number, let count = try json.integer() else {
                    return .failure(wrongMetric(name, "a whole number"))
                }
                result.counters[counter] = count
            case .buttonClicks:
                guard let clicks = try buttonClicks(vocabulary, &json) else {
                    return .failure(wrongMetric(name, "an object of whole numbers"))
                }
                result.clicks = clicks
            case .difference, .sum, nil: try json.skip()
            }
        }
        return .success(result)
    }

    private static func buttonClicks(
        _ vocabulary: Vocabulary, _ json: inout JSONReader
    ) throws(JSONReader.Broken) -> [(button: UInt32, count: Int64)]? {
        guard json.kind() == .object else { return nil }
        var clicks: [(button: UInt32, count: Int64)] = []
        try json.openObject()
        while let button = try json.nextKey() {
            guard json.kind() == .number, let count = try json.integer() else { return nil }
            clicks.append((vocabulary.strings.intern(button), count))
        }
        return clicks
    }

    private static func wrongMetric(_ name: ByteView, _ wanted: String) -> PublishedRow.Malformed {
        PublishedRow.Malformed("`metrics.\(name.text ?? "")` is not \(wanted)")
    }
}

extension PublishedFields.Field {
    /// What the field holds; `nil` where the record has none or null.
    func value(_ name: StaticString) throws(PublishedRow.Malformed) -> Value? {
        switch self {
        case .absent: return nil
        case .wrong: throw PublishedRow.Malformed("`\(name)` is not a whole number")
        case .value(let value): return value
        }
    }
}
