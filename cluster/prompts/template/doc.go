// Package template is the language that prompts are written in: a bounded part of
// Jinja2. Text, {{ expressions }} with filters, {% if %}, {% for %} over lists that
// the caller supplies, {# comments #}, {% raw %} and the dashes that take white
// space away mean what they mean there. What is not supplied is empty text.
//
// It is a language of its own rather than a library's Jinja, because what it leaves
// out is the point: nothing here calls a function, makes a list, reads a file, or
// reaches an attribute that is not in the values. A value is text and is never read
// as template. Every rendering ends: what it does is counted, in steps and in bytes,
// and not timed, so one template with the same values always has the same outcome.
//
// A Template is immutable and safe for concurrent use.
package template
