// Package event describes the content of the audit log: the types of events and the JSON of
// their details.
//
// The code that makes a change records its event in the same transaction (record.Txn.Record).
// So a cascade is recorded where it is made. The management API adds the facts of the request:
// the caller, the operation and its fields.
//
//  1. Details never contain secrets or values of fields, with two exceptions: limits of spend
//     and rates, and the versions that labels of prompts name, with their old and new values.
//  2. The events of a transaction have one order, regardless of the order in which they were
//     recorded.
//  3. The stored form does not change: an event of a type always has the same members.
package event
