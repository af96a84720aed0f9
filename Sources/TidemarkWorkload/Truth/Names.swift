/// The last non-null name of every id (section 3 of the report rules).
struct Names {
    /// What an id identifies.
    enum Kind: CaseIterable, Hashable {
        case campaign, messageVariation, canvas, canvasVariation, canvasStep
    }

    private struct Key: Hashable {
        let kind: Kind
        let id: Text
    }

    private struct Naming {
        let order: EventOrder
        let name: Text
    }

    private var namings: [Key: Naming] = [:]

    /// Takes in the names that an accepted event carries.
    mutating func add(_ sample: SampleEvent, order: EventOrder) {
        add(.campaign, sample.campaignID, sample.campaignName, order)
        add(.messageVariation, sample.messageVariationID, sample.messageVariationName, order)
        add(.canvas, sample.canvasID, sample.canvasName, order)
        add(.canvasVariation, sample.canvasVariationID, sample.canvasVariationName, order)
        add(.canvasStep, sample.canvasStepID, sample.canvasStepName, order)
    }

    /// The name of an id, if one is known.
    func name(_ kind: Kind, of id: Text?) -> Text? {
        id.flatMap { namings[Key(kind: kind, id: $0)]?.name }
    }

    private mutating func add(_ kind: Kind, _ id: String?, _ name: String?, _ order: EventOrder) {
        guard let id = Text(field: id), let name = Text(field: name) else { return }
        let key = Key(kind: kind, id: id)
        if let known = namings[key] {
            if order < known.order { return }
            if order == known.order && name < known.name { return }
        }
        namings[key] = Naming(order: order, name: name)
    }
}
