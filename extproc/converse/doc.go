// Package converse is the language of callers of Amazon Bedrock's Converse, ConverseStream and CountTokens: it scans their
// requests, and the responses of deployments with the same language, in place, and translates from and to the canonical form for
// all other providers. Package bedrock is the side of providers.
//
// A stream is server-sent events within the gateway: the name of an event is that of its frame, and the data is the frame's payload.
// An event whose name ends with Exception is a failure. Package eventstream makes AWS's frames of them.
//
// Guarantees: those of package dialect for what is translated. A scan takes time linear in the body, and copies none of it. What the
// account at AWS has stored (objects in S3) is rejected by the scan, since bytes that pass are read by nothing else. Proofs of
// reasoning that another provider has given reach no model that would reject them.
package converse
