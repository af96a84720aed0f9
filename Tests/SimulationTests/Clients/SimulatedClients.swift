import TidemarkKafka

/// Makes the clients of one simulated process.
///
/// Unchecked: used by threads of the simulation, one at a time.
struct SimulatedClients: ClientFactory, @unchecked Sendable {
    let process: SimulatedProcess
    let cluster: SimulatedCluster

    func consumer(
        _ properties: [String: String], log: (@Sendable (KafkaLogLine) -> Void)?
    ) throws(KafkaError) -> any ConsumerClient {
        if process.isCrashed { throw .gone }
        return SimulatedConsumer(properties, process: process, cluster: cluster)
    }

    func producer(
        _ properties: [String: String], log: (@Sendable (KafkaLogLine) -> Void)?
    ) throws(KafkaError) -> any TransactionClient {
        if process.isCrashed { throw .gone }
        return SimulatedProducer(properties, process: process, cluster: cluster)
    }
}
