import Testing
import TidemarkTestKit

@Test(
    "the conformance suite is there",
    .enabled(if: ConformanceVector.folder != nil, "no folder shared/conformance above the tests"))
func suiteIsThere() throws {
    #expect(try ConformanceVector.names().count >= 104)
}
