/// What to do about topics that have other partitions than before.
enum PartitionAdvice {
    /// For input topics that have been given more partitions.
    private static let forMorePartitions =
        "More partitions send users elsewhere than before, so their older events are not with their newer ones. Either way to go "
        + "on reads the input from its beginning, under a new application_id and new output topics: with `input.repartition: "
        + "true`, which brings each user's events together again, or from a copy of the topic that is keyed by user_id. "
        + "docs/operations.md has the steps"

    /// For topics that tasks read and that have been given more partitions.
    static func forMorePartitions(_ topics: ApplicationTopics) -> String {
        topics.isRepartitioned
            ? "More partitions send users elsewhere than before: start under a new application_id and new output topics"
            : forMorePartitions
    }

    /// For source topics of `input.repartition` that are others, or have other partitions, than before.
    static let forMoreSources =
        "Put them back, or begin anew with `tidemark reset`, which withdraws what was published and has the input read from its "
        + "beginning, or start under a new application_id and new output topics"
}
