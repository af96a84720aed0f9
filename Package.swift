// swift-tools-version: 6.1
import PackageDescription

/// Settings of every Swift target: Swift 6 mode comes with the tools version, the rest keeps imports and existentials honest.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// The modules that run once per event are optimised without exclusivity checks; tests of the debug build keep them.
let hot: [SwiftSetting] =
    strict + [
        .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))
    ]

func module(_ name: String, _ dependencies: [Target.Dependency], settings: [SwiftSetting] = strict) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
}

let package = Package(
    name: "tidemark",
    products: [
        .executable(name: "tidemark", targets: ["tidemark"]),
        .library(name: "TidemarkAttribution", targets: ["TidemarkAttribution"]),
    ],
    targets: [
        // C libraries of the system, and one target for what Swift cannot import.
        .systemLibrary(name: "CRdKafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"])]),
        .systemLibrary(name: "CYaml", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        .systemLibrary(name: "CSnappy", providers: [.apt(["libsnappy-dev"])]),
        .systemLibrary(name: "CXXHash", providers: [.apt(["libxxhash-dev"])]),
        .target(
            name: "CTidemark", cxxSettings: [.unsafeFlags(["-O2"])],
            linkerSettings: [.linkedLibrary("simdjson")]),

        .target(name: "CMicroHTTPD", linkerSettings: [.linkedLibrary("microhttpd")]),
        .target(name: "CCurl", linkerSettings: [.linkedLibrary("curl")]),

        // The pure core, left to right.
        module("TidemarkEvents", ["CTidemark", "CXXHash", "CSnappy", "CZlib", "CZstd"], settings: hot),
        module("TidemarkAttribution", ["TidemarkEvents"], settings: hot),
        module("TidemarkReports", ["TidemarkEvents", "TidemarkAttribution"], settings: hot),

        // The shell.
        module("TidemarkKafka", ["CRdKafka"]),
        module("TidemarkRegistry", ["CCurl"]),
        module("TidemarkConfiguration", ["CYaml", "TidemarkAttribution", "TidemarkReports", "TidemarkRegistry"]),
        module(
            "TidemarkProcessor",
            [
                "TidemarkEvents", "TidemarkAttribution", "TidemarkReports", "TidemarkKafka", "TidemarkConfiguration",
                "TidemarkRegistry", "CXXHash", "CTidemark", "CZlib", "CZstd",
            ],
            settings: hot),
        module(
            "TidemarkIngest",
            [
                "TidemarkEvents", "TidemarkReports", "TidemarkKafka", "TidemarkConfiguration", "TidemarkProcessor",
                "CMicroHTTPD", "CZlib", "CXXHash",
            ],
            settings: hot),
        module("TidemarkServer", ["CMicroHTTPD", "TidemarkEvents", "TidemarkProcessor", "TidemarkIngest"]),
        module("TidemarkWorkload", []),
        .executableTarget(
            name: "tidemark",
            dependencies: [
                "TidemarkConfiguration", "TidemarkProcessor", "TidemarkServer", "TidemarkKafka", "TidemarkReports",
                "TidemarkWorkload", "TidemarkEvents", "TidemarkAttribution", "TidemarkIngest", "TidemarkRegistry",
            ],
            swiftSettings: strict),

        // How fast records are decoded.
        .executableTarget(
            name: "decode-benchmark", dependencies: ["TidemarkEvents"], path: "benchmarks/decode", swiftSettings: strict
        ),

        // What tests of several modules share.
        .target(
            name: "TidemarkTestKit",
            dependencies: [
                "TidemarkProcessor", "TidemarkWorkload", "TidemarkEvents", "TidemarkAttribution", "TidemarkReports",
            ],
            path: "Tests/TidemarkTestKit", swiftSettings: strict),
        tests("TidemarkEventsTests", ["TidemarkEvents", "CSnappy", "CZlib", "CZstd"]),
        tests("TidemarkAttributionTests", ["TidemarkAttribution", "TidemarkEvents"]),
        tests("TidemarkReportsTests", ["TidemarkReports", "TidemarkAttribution", "TidemarkEvents"]),
        tests("TidemarkKafkaTests", ["TidemarkKafka"]),
        tests("TidemarkRegistryTests", ["TidemarkRegistry"]),
        tests(
            "TidemarkConfigurationTests",
            ["TidemarkConfiguration", "TidemarkAttribution", "TidemarkReports", "TidemarkRegistry"]),
        tests(
            "TidemarkProcessorTests",
            [
                "TidemarkProcessor", "TidemarkConfiguration", "TidemarkWorkload", "TidemarkEvents",
                "TidemarkAttribution", "TidemarkReports", "TidemarkKafka", "TidemarkTestKit", "CZlib", "CZstd",
            ]),
        tests(
            "SimulationTests",
            [
                "TidemarkProcessor", "TidemarkConfiguration", "TidemarkWorkload", "TidemarkAttribution",
                "TidemarkReports", "TidemarkKafka", "TidemarkTestKit",
            ]),
        tests("TidemarkWorkloadTests", ["TidemarkWorkload", "TidemarkTestKit"]),
        tests(
            "TidemarkIngestTests",
            [
                "TidemarkIngest", "TidemarkConfiguration", "TidemarkProcessor", "TidemarkEvents", "TidemarkKafka",
                "TidemarkTestKit", "CZlib",
            ]),
        tests("TidemarkServerTests", ["TidemarkServer", "TidemarkProcessor", "TidemarkEvents", "TidemarkIngest"]),
        tests(
            "TidemarkCommandTests",
            [
                "tidemark", "TidemarkKafka", "TidemarkProcessor", "TidemarkConfiguration", "TidemarkWorkload",
                "TidemarkEvents", "TidemarkReports",
            ]),
        tests("ConformanceTests", ["TidemarkTestKit", "TidemarkWorkload"]),
        tests(
            "IntegrationTests",
            [
                "TidemarkKafka", "TidemarkWorkload", "TidemarkProcessor", "TidemarkConfiguration", "TidemarkReports",
                "TidemarkEvents", "TidemarkTestKit",
            ]),
    ],
    cxxLanguageStandard: .cxx17
)
