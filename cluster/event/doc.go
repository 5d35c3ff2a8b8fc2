// Package event describes what the audit log records: the types of events, what each
// tells, and the JSON of their details.
//
// The code that makes a change records its event in the transaction that makes the
// change (record.Txn.Record), so a cascade is recorded at the place that makes it. The
// management API adds what the request alone knows: the caller, the operation and its
// fields.
//
//  1. Details never have secrets, nor values of fields. The exception are amounts:
//     fields that bound spend or rates, with their old and new values.
//  2. The events of a transaction have one order, whatever the order of their recording.
//  3. What is stored does not change: an event of a type always has the same members.
package event
