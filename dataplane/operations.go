// Package dataplane is the table of the operations of the data plane: the requests
// that a provider's model answers. Envoy's routes, the request pipeline, the groups of
// routes of a key and the errors for unknown paths read it. It is a leaf.
package dataplane

import "strings"

// Operation describes one operation. Its requests are POST.
type Operation struct {
	CallType string // its name in events, records and metrics
	Path     string // without the version; it is also the provider's endpoint in extproc/provider
	Language string // the caller's API, as in extproc/wire
	Response string // media type of a response that is sent whole
	Stream   string // media type of a response that is sent in pieces, on request
}

// Chat is the call type of chat completions.
const Chat = "chat.completions"

// Operations lists all operations. It is an array because each request reads it, and an
// array is not allocated.
func Operations() [1]Operation {
	return [...]Operation{
		{CallType: Chat, Path: "/chat/completions", Language: "openai", Response: "application/json", Stream: "text/event-stream"},
	}
}

// Paths lists the exact paths of the operation, the documented one first.
func (o *Operation) Paths() []string { return []string{"/v1" + o.Path, o.Path} }

// Paths lists the exact paths of all operations.
func Paths() []string {
	var out []string
	for _, o := range Operations() {
		out = append(out, o.Paths()...)
	}
	return out
}

// unserved returns the first segments of paths at which other gateways serve models and
// this one does not. They are in the same group of routes as the operations.
func unserved() [12]string {
	return [...]string{
		"/completions", "/embeddings", "/messages", "/responses", "/rerank", "/moderations",
		"/images", "/audio", "/files", "/batches", "/openai", "/engines",
	}
}

// IsInference reports whether a path is in the group of routes that models answer, here or
// at other gateways. A leading /v1 or /v2 is not compared.
func IsInference(path string) bool {
	for _, version := range [...]string{"/v1/", "/v2/"} {
		if strings.HasPrefix(path, version) {
			path = path[len(version)-1:]
			break
		}
	}
	for _, stem := range unserved() {
		if isBelow(path, stem) {
			return true
		}
	}
	return IsOperation(path)
}

// IsOperation reports whether a path without a version is an operation's, or below one.
func IsOperation(path string) bool {
	for _, o := range Operations() {
		if isBelow(path, o.Path) {
			return true
		}
	}
	return false
}

func isBelow(path, stem string) bool {
	rest, ok := strings.CutPrefix(path, stem)
	return ok && (rest == "" || rest[0] == '/')
}
