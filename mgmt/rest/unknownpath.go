package rest

import (
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/dataplane"
)

// codeUnsupportedEndpoint is the code for a path of OpenAI's or another provider's API that
// the gateway does not serve.
const codeUnsupportedEndpoint = "unsupported_endpoint"

// unsupportedEndpoints are the first segments, without a version, of the endpoints of
// known APIs that are not served here.
func unsupportedEndpoints() []string {
	return []string{
		"a2a", "agents", "assistants", "audio", "batches", "completions", "containers", "conversations", "converse", "edits", "embeddings", "engines",
		"evals", "files", "fine_tuning", "images", "interactions", "mcp", "mcp-rest", "memory", "messages", "moderations", "ocr", "rag", "realtime", "rerank",
		"responses", "search", "skills", "threads", "token-saving", "uploads", "vector_stores", "videos",
	}
}

// maxNamedPath is how much of a path an error names, in bytes. Longer paths get no
// suggestion either: the comparison costs time in proportion to the length.
const maxNamedPath = 128

// UnknownPath returns the error for a path that does not exist. It suggests one of paths.
func UnknownPath(path string, paths []string) *fault.Error {
	if supported := dataplane.Supported(path); supported != "" {
		return &fault.Error{
			Kind: fault.NotFound, Code: codeUnsupportedEndpoint, Detail: "The gateway does not support the endpoint " + ShortPath(path) + ". " + supported,
			Details: map[string]any{"path": ShortPath(path), "supported": dataplane.Known(path)},
		}
	}
	if isUnsupported(path) {
		var supported []string
		for _, o := range dataplane.Operations() {
			supported = append(supported, o.Documented()[0])
		}
		supported = append(supported, "/v1/models")
		return &fault.Error{
			Kind: fault.NotFound, Code: codeUnsupportedEndpoint,
			Detail: "The gateway does not support the endpoint " + ShortPath(path) + ". It supports " + supported[0] +
				" and the others that details.supported lists, and the management API, which GET /openapi.json lists.",
			Details: map[string]any{"path": ShortPath(path), "supported": supported},
		}
	}
	e := &fault.Error{
		Kind: fault.NotFound, Code: "not_found", Detail: "There is nothing at the path " + ShortPath(path) + ".",
		Details: map[string]any{"path": ShortPath(path)},
	}
	if near := nearest(path, paths); near != "" {
		e.Detail += " Did you mean " + near + "?"
		e.Details["nearest"] = near
	} else {
		e.Detail += " GET /openapi.json lists the paths that exist."
	}
	return e
}

// ShortPath returns a path as an error shows it: bounded, and valid UTF-8.
func ShortPath(path string) string {
	if len(path) > maxNamedPath {
		path = path[:maxNamedPath] + "…"
	}
	return strings.ToValidUTF8(path, "\uFFFD")
}

// isUnsupported reports whether a path that is not served is an endpoint of a known
// API. The version is not compared.
func isUnsupported(path string) bool {
	endpoint := unversioned(strings.TrimPrefix(path, "/"))
	return isKnown(endpoint) && !dataplane.IsOperation("/"+endpoint)
}

// unversioned is a path without a leading v1/ or v1beta/.
func unversioned(path string) string {
	version, rest, ok := strings.Cut(path, "/")
	if ok && len(version) > 1 && version[0] == 'v' && version[1] >= '0' && version[1] <= '9' {
		return rest
	}
	return path
}

func isKnown(endpoint string) bool {
	return slices.ContainsFunc(unsupportedEndpoints(), func(known string) bool {
		return endpoint == known || strings.HasPrefix(endpoint, known+"/")
	})
}

// nearest returns the path of the table with the fewest edits; empty if all are too far
// away.
func nearest(path string, table []string) string {
	if len(path) > maxNamedPath {
		return ""
	}
	best, found := 2+len(path)/5, ""
	for _, candidate := range table {
		if d := distance(path, candidate, best); d < best || d == best && found == "" {
			best, found = d, candidate
		}
	}
	return found
}

// distance returns the Levenshtein distance of two texts, or limit + 1 if it is higher.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal, least := row[0], i+1
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, diagonal+1, row[j]+1)
			least = min(least, row[j+1])
		}
		if least > limit {
			return limit + 1
		}
	}
	return row[len(b)]
}
