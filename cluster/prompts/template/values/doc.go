// Package values implements the values of templates as Python has them, and what Python does
// with them: integers of any size, floats, texts, Markup, lists, tuples and dicts that keep
// their order; arithmetic, comparison, slices, formatting with %, repr, pprint and JSON.
//
// Each operation has the result that CPython has, or ends the rendering with an error that
// names it. A Counter counts the steps of an operation and the bytes of its result, before
// the result is made, so no operation takes more memory or time than the bounds of a
// rendering allow.
//
// What the characters of a text are is that of Unicode 15.0, as in CPython 3.12. CPython 3.11 has
// Unicode 14: there five letters that are assigned (U+10FC, U+A7F2 to U+A7F4 and U+AB69) are not
// lower case yet, as the property Other_Lowercase of PropList.txt says since 15.0.
//
// A value never changes once it is made, so values can share their parts. The exceptions are
// those that Jinja has for it: Namespace, Cycler, Joiner and Generator.
//
// Operations that can fail panic with a *Failure, or with what an include ends with. The
// machine of package template recovers.
package values
