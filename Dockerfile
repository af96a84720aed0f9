# Builds the release binary with Swift's own libraries inside it, then puts it on a slim system with the C libraries it links.

FROM swift:6.3-bookworm AS build
WORKDIR /src
# The packages first: they change more rarely than the sources.
COPY scripts/setup scripts/setup
RUN scripts/setup
COPY Package.swift ./
COPY Sources Sources
COPY Tests Tests
COPY benchmarks/decode benchmarks/decode
RUN swift build -c release --product tidemark --static-swift-stdlib -Xlinker -s \
    && install -D .build/release/tidemark /out/tidemark

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates libcurl4 libmicrohttpd12 librdkafka1 libsimdjson14 libsnappy1v5 libyaml-0-2 libzstd1 tzdata zlib1g \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --user-group --no-create-home --shell /usr/sbin/nologin tidemark
COPY --from=build /out/tidemark /usr/local/bin/tidemark
USER tidemark
ENTRYPOINT ["tidemark"]
CMD ["--help"]
