// Package rights decides what a caller of the management API may see, change and grant.
//
// Of takes a principal and the Set of package tenancy that authenticated it, and returns its Rights.
// Its methods that begin with May refuse, with an error whose text is for the caller. They compare the
// record as it was, the record as the operation would leave it, and what the API key of the caller
// has itself: models, routes, limits, time and the users that it acts as. Nobody grants more than they
// have. A key stays in its place: its team, or else its organization.
//
// Rights write no record. In a transaction, what they read is a precondition of its commit.
package rights
