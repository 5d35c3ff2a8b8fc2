// Package cli is the management API as commands: one for each operation, named as
// people say it (key generate, team member-add), with a flag for each field of its
// request. Commands are made from the API's own descriptors and routes, so a field
// that the API gets is a flag of the next build; the table in words.go says only
// what they are called and what of an answer is shown in a table.
//
// Nothing here is kept: what a command is given goes into one request, what comes
// back is printed. A secret may be given as @file, - (standard input) or
// os.environ/NAME, so that it need not stand in the shell's history.
package cli
