// Package texts finds the texts in requests, in whole answers and in the events of streams, in every
// language of callers and providers. The stages after it need to know no language.
//
// Guarantees:
//
//   - The spans of a body are in order and do not overlap. Each is the inside of a JSON string, or an
//     object or array with texts in it, such as a schema.
//   - Every string that a model may read, or that a caller may take for the model's words, is in exactly
//     one span. Members that the package does not know count as read: models read most members that
//     providers add.
//   - Ids, types, options, signatures, encrypted data and the credentials of tools are in no span. The
//     data and addresses of pictures, sound and files have spans of kind Media.
//   - Time is linear in the body. A walk allocates nothing, but for names with escapes.
//
// Bodies must be JSON that a scanner of package splice has accepted. Of a form, the body is what
// splice.Request.Document returns.
//
// Each language is one file, with a function that says for each member of each kind of object what it
// is (a rule). The walk itself is the same for all.
package texts
