// Package cli holds the program's commands: serve and config check, which use package
// gateway, cluster and secrets, which call a running gateway, and audit, which verifies
// the audit log. [Root] returns them all.
//
// The management API has one command for each operation (key generate, team member-add),
// with a flag for each field of its request. [Commands] makes them from the API's
// descriptors and routes, so a new field of the API is a flag of the next build. Their
// names and the columns of their tables are options of the methods (proto/options/v1).
//
// prompt push and prompt pull bring a directory of files into line with the prompts of the
// gateway. Package promptfile has the form of the files.
//
// Such a command keeps nothing: its flags become one request, and it prints the response.
// A secret may be given as @file, - (standard input) or os.environ/NAME, so that it is
// not in the shell's history.
package cli
