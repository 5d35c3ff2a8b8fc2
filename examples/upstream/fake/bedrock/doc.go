// Package bedrock has the wire format of the fake provider's Amazon Bedrock: what Converse takes and what it sends, and the
// frames of AWS's streams. The fake provider decides what is answered.
//
// The frames are written here, and not by a library, so that whatever reads them meets a second opinion, and the program
// builds with the standard library alone.
package bedrock
