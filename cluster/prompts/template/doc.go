// Package template implements the language of prompts: a bounded subset of
// Jinja2. Text, {{ expressions }} with filters, {% if %}, {% for %} over lists that
// the caller supplies, {# comments #}, {% raw %} and the dashes that remove white
// space mean the same as there. A value that is not supplied is empty text.
//
// It is not a library's Jinja, because the omissions are its purpose: a template cannot
// call a function, make a list, read a file, or reach an attribute that is not in the
// values. A value is text and is never read as a template. Every rendering ends: its
// bounds are numbers of steps and bytes and not a time, so the same template with the
// same values always has the same result.
//
// A Template is immutable and safe for concurrent use.
package template
