// Package template implements the language of prompts: Jinja2, as it is in a sandbox.
//
// The law: Parse rejects a template, with the line, the column and the word that is not
// supported, or Render returns what Jinja2 3.1.6 returns for it in an
// ImmutableSandboxedEnvironment with ChainableUndefined, the extension loopcontrols and
// the default settings for white space. Where Jinja raises an exception, Render returns an
// error with code template_error. It never returns another text. Expected texts that the
// real Jinja made are in testdata.
//
// A value that is not given is empty: in the output, in loops and tests, joined with ~, and
// so are its attributes and elements. Where Jinja needs a value it raises an exception for
// it, as for missing + 1, and so does Render.
//
// It is not a library, because its bounds are its purpose. A rendering counts its steps and
// the bytes of the values that it makes, before it makes them, and not its time: the same
// template with the same values has the same result on every node. One that exceeds a bound
// ends with the code template_too_costly. A template cannot read files, and reaches only
// attributes that change nothing and do not begin with an underscore. A value is never read
// as a template.
//
// What Jinja has and Parse rejects: the filters random and urlize, the functions lipsum and
// strftime_now, the tags block, extends, import, from and autoescape, includes of anything
// but prompts, and the test sameas for other values than true, false and none. Render
// rejects a few more with template_error, all of which name the operation: what Python
// shows with an address in memory, such as a generator or a method that is not called, and
// a few methods and formats of numbers.
//
// The way of a template: package syntax reads it into a tree, in which each name has its
// frame, and a machine here runs the tree. It calls what package library has, on the values of
// package values, which count every step.
//
// A Template is immutable and safe for concurrent use.
package template
