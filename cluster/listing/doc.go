// Package listing has the lists of keys, teams and users that management shows: filtered, sorted, and
// cut into pages.
//
// A query reads one tenancy.Set and sees neither later changes nor a transaction. A list that is an
// index of the Set costs what its page and the pages before it have; any other looks at all records
// that the most telling filter leaves. Who may see a record is decided by the caller, in the field
// May of a query.
package listing
