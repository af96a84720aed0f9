/// A message of the catalog with its ids and names, as fields of an event and as JSON.
struct CatalogMessage: Sendable {
    /// The names and ids during one period of time.
    struct Version: Sendable {
        /// An event with nothing but the message's ids and names.
        let fields: SampleEvent
        /// The campaign fields of a record, with a comma behind each.
        let campaign: [UInt8]
        /// The canvas fields of a record, with a comma behind each.
        let canvas: [UInt8]

        init(_ fields: SampleEvent) {
            self.fields = fields
            campaign = Self.json([
                ("campaign_id", fields.campaignID), ("campaign_name", fields.campaignName),
                ("message_variation_id", fields.messageVariationID),
                ("message_variation_name", fields.messageVariationName),
            ])
            canvas = Self.json([
                ("canvas_id", fields.canvasID), ("canvas_name", fields.canvasName),
                ("canvas_variation_id", fields.canvasVariationID),
                ("canvas_variation_name", fields.canvasVariationName),
                ("canvas_step_id", fields.canvasStepID), ("canvas_step_name", fields.canvasStepName),
            ])
        }

        private static func json(_ fields: [(String, String?)]) -> [UInt8] {
            var json = CanonicalJSON()
            for (name, value) in fields {
                json.append(raw: "\"\(name)\":")
                json.append(value.map(Text.init))
                json.append(raw: ",")
            }
            return json.bytes
        }
    }

    let earlier: Version
    let later: Version
    /// When the names change, in seconds since the epoch.
    let change: UInt32

    init(earlier: SampleEvent, later: SampleEvent, change: Int) {
        self.earlier = Version(earlier)
        self.later = Version(later)
        self.change = UInt32(change)
    }

    /// The names and ids that an event of that time carries.
    func version(at time: UInt32) -> Version {
        time < change ? earlier : later
    }
}

/// All messages of a sample stream, by their number.
struct Catalog: Sendable {
    /// Messages of one channel: `count` groups of `size` messages each, from number `first`.
    struct Shelf: Sendable {
        let first: Int
        let count: Int
        let size: Int

        func message(_ group: Int, _ place: Int) -> UInt16 {
            UInt16(first + group * size + place)
        }
    }

    /// The message of what names neither campaign nor canvas.
    static let none: UInt16 = 0

    private(set) var messages: [CatalogMessage] = []
    /// Push campaigns: variation A, variation B, the control group.
    private(set) var push = Shelf(first: 0, count: 0, size: 3)
    /// In-app campaigns: variation A, variation B, the control group.
    private(set) var inApp = Shelf(first: 0, count: 0, size: 3)
    /// Content Card campaigns: one variation.
    private(set) var cards = Shelf(first: 0, count: 0, size: 1)
    /// Banner campaigns: one variation.
    private(set) var banners = Shelf(first: 0, count: 0, size: 1)
    /// Feature flag experiments: with the feature, without it.
    private(set) var flags = Shelf(first: 0, count: 0, size: 2)
    /// Canvases: for each of two variations three push steps and what belongs to no step.
    private(set) var canvases = Shelf(first: 0, count: 0, size: 8)

    init(_ options: WorkloadOptions) {
        let blank = SampleEvent(id: "", eventType: "", userID: "", time: 0)
        messages.append(CatalogMessage(earlier: blank, later: blank, change: 0))
        let count = options.campaigns
        push = addCampaigns(count, variations: ["A", "B", "Control"], purpose: "Push", options)
        inApp = addCampaigns(max(1, count / 4), variations: ["A", "B", "Control"], purpose: "In-app", options)
        cards = addCampaigns(max(1, count / 5), variations: ["Card"], purpose: "Card", options)
        banners = addCampaigns(max(1, count / 8), variations: ["Banner"], purpose: "Banner", options)
        flags = addCampaigns(max(1, count / 8), variations: ["On", "Off"], purpose: "Flag", options)
        canvases = addCanvases(max(1, count / 4), options)
    }

    /// Whether a message is of a canvas.
    func isCanvas(_ message: UInt16) -> Bool { Int(message) >= canvases.first }

    private mutating func addCampaigns(
        _ count: Int, variations: [String], purpose: String, _ options: WorkloadOptions
    ) -> Shelf {
        let shelf = Shelf(first: messages.count, count: count, size: variations.count)
        for number in 0..<count {
            let naming = Naming(purpose, number, options)
            for (place, variation) in variations.enumerated() {
                add(naming) { event, name in
                    event.campaignID = naming.id(0)
                    event.campaignName = name
                    event.messageVariationID = naming.id(1 + place)
                    event.messageVariationName = variation
                }
            }
        }
        return shelf
    }

    private mutating func addCanvases(_ count: Int, _ options: WorkloadOptions) -> Shelf {
        let shelf = Shelf(first: messages.count, count: count, size: 8)
        for number in 0..<count {
            let naming = Naming("Canvas", number, options)
            for place in 0..<shelf.size {
                let (variation, step) = (place / 4, place % 4)
                add(naming) { event, name in
                    event.canvasID = naming.id(0)
                    event.canvasName = name
                    event.canvasVariationID = naming.id(1 + variation)
                    event.canvasVariationName = "Variant \(variation + 1)"
                    guard step < 3 else { return }
                    event.canvasStepID = naming.id(3 + place)
                    event.canvasStepName = "Day \(step + 1) – push"
                }
            }
        }
        return shelf
    }

    private mutating func add(_ naming: Naming, fill: (inout SampleEvent, String?) -> Void) {
        var earlier = SampleEvent(id: "", eventType: "", userID: "", time: 0)
        var later = earlier
        fill(&earlier, naming.earlier)
        fill(&later, naming.later)
        messages.append(CatalogMessage(earlier: earlier, later: later, change: naming.change))
    }
}

/// The ids and names of one campaign or canvas.
private struct Naming {
    let earlier: String?
    let later: String
    let change: Int
    private let seed: UInt64

    private static let themes = [
        "Spring sale", "Welcome back", "Cart reminder", "New in", "Members’ week", "Price drop", "Last \"chance\"",
        "Été à Paris", "Back in stock", "Weekend picks", "Thank you", "Refer a friend",
    ]

    /// Most names stay; one in six changes during the stream, and one in ten is null at first, as after a launch.
    init(_ purpose: String, _ number: Int, _ options: WorkloadOptions) {
        var random = SplitMix64(options.seed, Text(purpose).checksum, UInt64(number))
        seed = random.next()
        let name = "\(purpose): \(random.pick(Self.themes)) \(number + 1)"
        let kind = random.below(30)
        later = kind < 5 ? "\(name) (new)" : name
        earlier = (5..<8).contains(kind) ? nil : name
        change = options.start + (kind < 5 ? random.below(options.days * 86_400) : 6 * 3_600)
    }

    func id(_ place: Int) -> String {
        String(written: { $0.append(uuid: SplitMix64.mix(seed &+ UInt64(place))) })
    }
}

extension Text {
    /// A number that depends on every byte of the text.
    fileprivate var checksum: UInt64 {
        string.utf8.reduce(0) { SplitMix64.mix($0 ^ UInt64($1)) }
    }
}
