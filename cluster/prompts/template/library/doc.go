// Package library has what templates can call: the filters, tests and functions of Jinja2
// and the methods of its values that change nothing.
//
// FilterOf, TestOf, GlobalOf and MethodOf say what exists; what they do not return cannot be
// called, and the texts of NoFilter, NoTest and NoFunction say what to write instead. A
// Native states its parameters, so that wrong arguments are found before a template runs
// where they can be. No name that begins with an underscore is reached.
//
// A native returns what Jinja2 3.1.6 returns, or ends the rendering, as values do.
package library
