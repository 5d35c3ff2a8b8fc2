// Package access says what an API key may call: which models and which routes.
//
// Models is a list of models as a key, user, team or organization has it. Routes are what the type
// of a key and its list of routes include. Both say whether they include something, and whether
// they include no more than another: a caller must not give what it does not have itself. That
// second question may have the answer no where yes would be right, never the reverse.
//
// The values are immutable and safe for concurrent use. Who has which list is for package tenancy.
package access
