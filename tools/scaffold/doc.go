// Command scaffold writes the files of a new sort of named resources, as docs/adding.md lists them: records of an
// organization that have an id, a name and a text, which the management API and the CLI create, list, show, change and
// delete.
//
//	go run ./tools/scaffold snippet
//
// writes four new files and a few lines in four others; `make proto` does the rest. What the resource has instead of
// a text is then changed by hand. -out writes the files below another directory, together with an overlay for
// go build, which is how `make scaffold-check` compiles and tests a resource without adding it.
package main
