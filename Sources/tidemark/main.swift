import Foundation

extension CommandTable {
    /// Every command, in the order of the overview. A new one needs its file and a line here.
    static let tidemark = CommandTable([
        DemoCommand.self,
        RunCommand.self,
        ReplayCommand.self,
        LoadCommand.self,
        IngestHTTPCommand.self,
        IngestFilesCommand.self,
        ReportShowCommand.self,
        ConfigCheckCommand.self,
        ConfigShowCommand.self,
        TopicsCreateCommand.self,
        TopicsCheckCommand.self,
        DlqListCommand.self,
        DlqShowCommand.self,
        DlqRedriveCommand.self,
        DlqExportCommand.self,
        DlqImportCommand.self,
        ResetCommand.self,
        VersionCommand.self,
    ])
}

// Connections that break while they are written to must end in an error, not end the process.
signal(SIGPIPE, SIG_IGN)
exit(CommandTable.tidemark.run(Array(CommandLine.arguments.dropFirst())))
