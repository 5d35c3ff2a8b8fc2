package inbound

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/extproc/trace"
)

// Headers is what the pipeline reads of the caller's headers.
type Headers struct {
	Credentials   credential.Presented
	Method        string
	Path          string // without its query
	Query         string // without the question mark; empty if there is none
	ContentType   string
	Encoding      string
	Timeout       string
	NumRetries    string
	Tags          string
	Customer      string
	Session       string
	Agent         string // the session of a coding agent
	PromptID      string
	PromptLabel   string
	PromptVersion string
	GuardrailID   string
	Model         string // x-gateway-model: whose account a request that is passed on unread uses
	Debug         string // x-gateway-debug
	Address       string // of the client
	UserAgent     string
	Trace         trace.Context

	Length  int64    // of the body, as declared; Undeclared if it is not
	Empty   bool     // there is no body
	Private []string // names of headers that no provider gets
	Vendor  []VendorHeader
}

// VendorHeader is a header that a vendor's clients send to that vendor.
type VendorHeader struct {
	Name, Value string
	Of          string // name of the provider; empty for that of the caller's language
}

// headerBeta names the beta features of Anthropic's API.
const headerBeta = "anthropic-beta"

// AddBetas adds the header with the beta features that read finds in a body, unless the caller sent one. read may be nil.
func (in *Headers) AddBetas(read func(body []byte) (string, error), body []byte) error {
	if read == nil || in.Anthropic(headerBeta) != "" {
		return nil
	}
	betas, err := read(body)
	if betas != "" {
		in.Vendor = append(in.Vendor, VendorHeader{Name: headerBeta, Value: betas, Of: "anthropic"})
	}
	return err
}

// Anthropic returns what the caller says of Anthropic's API in a header, which it may repeat; empty for nothing.
func (in *Headers) Anthropic(name string) string {
	var values []string
	for i := range in.Vendor {
		if in.Vendor[i].Name == name {
			values = append(values, in.Vendor[i].Value)
		}
	}
	return strings.Join(values, ",")
}

// vendorOf returns whose clients send a header.
func vendorOf(name string) (provider string, ok bool) {
	switch {
	case strings.HasPrefix(name, "anthropic-"), strings.HasPrefix(name, "x-claude-code-"):
		return "anthropic", true
	case name == "openai-beta", strings.HasPrefix(name, "x-codex-"):
		return "openai", true
	case strings.HasPrefix(name, "x-stainless-"), name == "x-app":
		return "", true
	}
	return "", false
}

// googleLanguage is the language of the callers that may send their key in the query.
const googleLanguage = "gemini"

// maxVendorHeaders bounds the vendors' headers of a request. Further ones are not sent on.
const maxVendorHeaders = 40

// HeaderDebug requests, and reports, why attempts of a request failed.
const HeaderDebug = "x-gateway-debug"

// HeaderModel names a model, or the id of a deployment, whose account a request that is passed on unread uses.
const HeaderModel = "x-gateway-model"

// Undeclared is the length of a body that has no content-length.
const Undeclared = -1

// Add adds one header of the request. What it keeps does not alias its arguments.
func (in *Headers) Add(name, value []byte) {
	switch string(name) {
	case ":path":
		path, query, _ := bytes.Cut(value, []byte("?"))
		if in.Path, in.Query = string(path), string(query); strings.Contains(in.Query, credential.QueryGoogle+"=") && dataplane.Language(in.Path) == googleLanguage {
			in.Credentials.AddQuery(in.Query)
		}
	case ":method":
		in.Method = string(value)
	case credential.HeaderAuthorization:
		in.Credentials.Add(credential.HeaderAuthorization, string(value))
	case credential.HeaderAnthropic:
		in.Credentials.Add(credential.HeaderAnthropic, string(value))
	case credential.HeaderAzure:
		in.Credentials.Add(credential.HeaderAzure, string(value))
	case credential.HeaderGoogle:
		in.Credentials.Add(credential.HeaderGoogle, string(value))
	case credential.HeaderGateway:
		in.Credentials.Add(credential.HeaderGateway, string(value))
	case "content-type":
		in.ContentType = string(value)
		return
	case "content-length":
		if n, err := strconv.ParseInt(string(value), 10, 64); err == nil && n >= 0 {
			in.Length = n
		}
	case "content-encoding":
		in.Encoding = string(value)
		return
	case "x-claude-code-session-id", "session-id", "session_id": // of the agents Claude Code and Codex
		in.Agent = string(value)
	case HeaderDebug:
		in.Debug = string(value)
	case "x-forwarded-for": // Envoy has appended the address of its peer
		in.Address = string(bytes.TrimSpace(value[bytes.LastIndexByte(value, ',')+1:]))
	case "user-agent":
		in.UserAgent = string(value)
		return
	case trace.HeaderParent:
		in.Trace.SetParent(string(value))
	case trace.HeaderState:
		in.Trace.AddState(string(value))
	}
	in.addOption(name, value)
	if vendor, ok := vendorOf(string(name)); ok && len(in.Vendor) < maxVendorHeaders {
		in.Vendor = append(in.Vendor, VendorHeader{string(name), string(value), vendor})
	}
	if !forwarded(string(name)) {
		in.Private = append(in.Private, string(name))
	}
}

// forwarded reports whether a caller's header goes on to the provider. It is an allowlist:
// callers' networks add arbitrary headers (cookies, addresses, traces). Credentials are
// handled with each attempt.
func forwarded(name string) bool {
	switch name {
	case "x-forwarded-proto": // Envoy finds no route without it; the provider's route removes it
		return true
	case "accept", "content-length", "content-type", "user-agent", "x-request-id", "te",
		credential.HeaderAuthorization, credential.HeaderAnthropic, credential.HeaderAzure, credential.HeaderGoogle:
		return true
	}
	return name == "" || name[0] == ':'
}

// ForwardedQuery returns the query without what may be a credential, and without the version of
// Azure's API.
func (in *Headers) ForwardedQuery() string {
	var out []string
	for pair := range strings.SplitSeq(in.Query, "&") {
		name, _, _ := strings.Cut(strings.ToLower(pair), "=")
		if pair == "" || name == "api-version" || strings.Contains(name, "key") || strings.Contains(name, "token") || strings.Contains(name, "%") {
			continue
		}
		out = append(out, pair)
	}
	return strings.Join(out, "&")
}

// WithQuery adds what of the query goes on to a provider's path.
func (in *Headers) WithQuery(path string) string {
	if in.Query == "" || strings.Contains(path, "?") {
		return path
	}
	query := in.ForwardedQuery()
	if query == "" {
		return path
	}
	return path + "?" + query
}

// addOption takes a header with an option of the gateway.
func (in *Headers) addOption(name, value []byte) {
	switch string(name) {
	case "x-gateway-timeout":
		in.Timeout = string(value)
	case "x-gateway-num-retries":
		in.NumRetries = string(value)
	case "x-gateway-tags":
		in.Tags = string(value)
	case "x-gateway-customer-id":
		in.Customer = string(value)
	case "x-gateway-session-id":
		in.Session = string(value)
	case "x-gateway-prompt-id":
		in.PromptID = string(value)
	case "x-gateway-prompt-label":
		in.PromptLabel = string(value)
	case "x-gateway-prompt-version":
		in.PromptVersion = string(value)
	case "x-gateway-guardrail-id":
		in.GuardrailID = string(value)
	case HeaderModel:
		in.Model = string(value)
	}
}
