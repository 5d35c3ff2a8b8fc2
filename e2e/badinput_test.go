package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// good is a request that would be answered.
const good = `{"model":"fast","messages":[{"role":"user","content":"hello"}]}`

// badGateway is a gateway whose provider must not be asked.
func badGateway(t *testing.T, more string) (*gatewayProcess, *upstream) {
	t.Helper()
	p := newUpstream(t)
	g := startGateway(t, models(p, "fast=openai/fake-gpt", "secret=openai/fake-gpt")+`
keys:
  - {key_alias: limited, key: sk-limited-0123456789abcd, models: [fast]}
  - {key_alias: old, key: sk-expired-0123456789abcd, expires: 2020-01-01}
`+more)
	return g, p
}

// refused checks that an answer is a refusal in OpenAI's shape that leaks nothing.
func refused(t *testing.T, name string, a *answer, status int, code string) {
	t.Helper()
	if a.status != status {
		t.Errorf("%s: status %d, want %d: %.300s", name, a.status, status, a.body)
		return
	}
	e := a.error(t)
	if code != "" && *e.Error.Code != code {
		t.Errorf("%s: code %q, want %q", name, *e.Error.Code, code)
	}
	for _, secret := range []string{adminKey, "provider-key", "/root", "goroutine", ".go:", "sk-limited", "sk-expired"} {
		if strings.Contains(a.body, secret) {
			t.Errorf("%s: the answer has %q in it: %s", name, secret, a.body)
		}
	}
	if id := a.header.Get("x-request-id"); !requestID.MatchString(id) && (id != "" || !withoutID(a)) {
		t.Errorf("%s: x-request-id is %q", name, id)
	}
}

// requestID is the form of every request id, also where Envoy rejects a request before
// the gateway has seen it.
var requestID = regexp.MustCompile(`^req_[0-9a-f]{32}$`)

// withoutID reports whether Envoy rejected a request before it had an id.
func withoutID(a *answer) bool {
	return a.status == http.StatusBadRequest && strings.Contains(a.body, "not valid HTTP")
}

// Rows 1-6 of the list of bad inputs: who is asking.
func TestBadCredentials(t *testing.T) {
	g, p := badGateway(t, "")
	key := func(v string) option { return with("Authorization", v) }
	twice := func(r *http.Request) {
		r.Header["Authorization"] = []string{"Bearer " + adminKey, "Bearer sk-limited-0123456789abcd"}
	}
	for _, c := range []struct {
		name   string
		option option
		status int
		code   string
	}{
		{"no key", without("Authorization"), 401, "missing_api_key"},
		{"empty", key(""), 401, "missing_api_key"},
		{"bearer only", key("Bearer"), 401, "missing_api_key"},
		{"bearer and a space", key("Bearer "), 401, "missing_api_key"},
		{"two headers", twice, 400, "ambiguous_credentials"},
		{"comma-joined", key("Bearer " + adminKey + ", Bearer sk-other-0123456789abcd"), 400, "ambiguous_credentials"},
		{"injection", key("Bearer ' OR 1=1--"), 401, "invalid_api_key"},
		{"basic", key("Basic c2stYWRtaW4="), 401, "invalid_api_key"},
		{"no scheme", key(adminKey), 401, "invalid_api_key"},
		{"unknown", key("Bearer sk-unknown-0123456789abcd"), 401, "invalid_api_key"},
		{"expired", key("Bearer sk-expired-0123456789abcd"), 401, "expired_api_key"},
		{"40 kB", key("Bearer sk-" + strings.Repeat("a", 40<<10)), 401, "invalid_api_key"},
		{"model not in the key's list", func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer sk-limited-0123456789abcd")
			r.Body = io.NopCloser(strings.NewReader(strings.Replace(good, "fast", "secret", 1)))
			r.ContentLength = -1
		}, 403, "model_access_denied"},
	} {
		refused(t, c.name, g.chat(good, c.option), c.status, c.code)
	}
	a := g.chat(good, key("bEaReR   "+adminKey))
	if a.status != http.StatusOK {
		t.Errorf("scheme in another case: %d %s", a.status, a.body)
	}
	for _, header := range []string{"x-api-key", "api-key", "x-gateway-api-key", "x-goog-api-key"} {
		if a := g.chat(good, without("Authorization"), with(header, adminKey)); a.status != http.StatusOK {
			t.Errorf("%s: %d %s", header, a.status, a.body)
		}
	}
	if n := p.Counters().Total; n != 5 {
		t.Errorf("the provider was asked %d times, want 5", n)
	}
	for _, r := range p.Requests() {
		if got := fmt.Sprint(r.Headers); strings.Contains(got, adminKey) {
			t.Errorf("the provider saw the caller's key: %s", got)
		}
	}
}

// Rows 7-10, 13-15, 17, 18, 20, 21 and 43: what is asked.
func TestBadBodies(t *testing.T) {
	g, p := badGateway(t, "")
	msgs := `"messages":[{"role":"user","content":"hello"}]`
	deep := strings.Repeat("[", 10000) + strings.Repeat("]", 10000)
	for name, c := range map[string]struct {
		body   string
		status int
		code   string
	}{
		"unknown model":      {`{"model":"nope",` + msgs + `}`, 404, "model_not_found"},
		"path as model":      {`{"model":"../x",` + msgs + `}`, 404, "model_not_found"},
		"empty model":        {`{"model":"",` + msgs + `}`, 400, ""},
		"null model":         {`{"model":null,` + msgs + `}`, 400, ""},
		"no model":           {`{` + msgs + `}`, 400, "missing_required_parameter"},
		"long model":         {`{"model":"` + strings.Repeat("x", 10000) + `",` + msgs + `}`, 400, ""},
		"newline in model":   {`{"model":"a\nb",` + msgs + `}`, 400, ""},
		"no messages":        {`{"model":"fast"}`, 400, "missing_required_parameter"},
		"messages empty":     {`{"model":"fast","messages":[]}`, 400, ""},
		"messages string":    {`{"model":"fast","messages":"hi"}`, 400, ""},
		"empty":              {``, 400, "invalid_json"},
		"array":              {`[]`, 400, ""},
		"string":             {`"x"`, 400, ""},
		"null":               {`null`, 400, ""},
		"truncated":          {good[:40], 400, "invalid_json"},
		"trailing":           {good + `x`, 400, "invalid_json"},
		"model twice":        {`{"model":"fast","model":"secret",` + msgs + `}`, 400, "duplicate_parameter"},
		"Model":              {`{"model":"fast","Model":"secret",` + msgs + `}`, 400, ""},
		"deep":               {`{"model":"fast",` + msgs + `,"x":` + deep + `}`, 400, "invalid_json"},
		"a million messages": {`{"model":"fast","messages":[` + strings.Repeat("{},", 1_000_000) + `{}]}`, 400, ""},
		"invalid utf-8":      {`{"model":"fast","messages":[{"role":"user","content":"` + "\xff" + `"}]}`, 400, "invalid_json"},
		"lone surrogate":     {`{"model":"fast","messages":[{"role":"user","content":"\ud800"}]}`, 400, "invalid_json"},
		"bom":                {"\ufeff" + good, 400, "invalid_json"},
		"max_tokens -1":      {`{"model":"fast","max_tokens":-1,` + msgs + `}`, 400, ""},
		"max_tokens 0":       {`{"model":"fast","max_tokens":0,` + msgs + `}`, 400, ""},
		"max_tokens 1.5":     {`{"model":"fast","max_tokens":1.5,` + msgs + `}`, 400, ""},
		"max_tokens string":  {`{"model":"fast","max_tokens":"10",` + msgs + `}`, 400, ""},
		"max_tokens NaN":     {`{"model":"fast","max_tokens":NaN,` + msgs + `}`, 400, "invalid_json"},
		"temperature hot":    {`{"model":"fast","temperature":"hot",` + msgs + `}`, 400, ""},
		"n 0":                {`{"model":"fast","n":0,` + msgs + `}`, 400, ""},
		"n a million":        {`{"model":"fast","n":1000000,` + msgs + `}`, 400, ""},
		"stream yes":         {`{"model":"fast","stream":"yes",` + msgs + `}`, 400, ""},
		"api_base":           {`{"model":"fast","api_base":"http://127.0.0.1:1/",` + msgs + `}`, 400, ""},
		"base_url":           {`{"model":"fast","base_url":"http://127.0.0.1:1/",` + msgs + `}`, 400, ""},
		"api_key":            {`{"model":"fast","api_key":"sk-x",` + msgs + `}`, 400, ""},
		"custom_host":        {`{"model":"fast","custom_host":"x",` + msgs + `}`, 400, ""},
		"extra_headers":      {`{"model":"fast","extra_headers":{"a":"b"},` + msgs + `}`, 400, ""},
		"guardrail":          {`{"model":"fast","guardrail_id":"pii",` + msgs + `}`, 400, "guardrail_not_found"},
		"prompt":             {`{"model":"fast","prompt_id":"x",` + msgs + `}`, 404, "prompt_not_found"},
	} {
		refused(t, name, g.chat(c.body), c.status, c.code)
	}
	for name, c := range map[string]struct {
		option option
		status int
	}{
		"text/plain":       {with("Content-Type", "text/plain"), 415},
		"no content type":  {without("Content-Type"), 415},
		"utf-16":           {with("Content-Type", "application/json; charset=utf-16"), 415},
		"gzip":             {with("Content-Encoding", "gzip"), 415},
		"unknown encoding": {with("Content-Encoding", "rot13"), 415},
	} {
		refused(t, name, g.chat(good, c.option), c.status, "")
	}
	if n := p.Counters().Total; n != 0 {
		t.Errorf("the provider was asked %d times, want never", n)
	}
	if rows := g.spend(""); len(rows) != 0 {
		t.Errorf("refusals were charged: %+v", rows)
	}
}

// Rows 11, 12: how much is asked, and how long it says that it is.
func TestBadLengths(t *testing.T) {
	g, p := badGateway(t, "\nlimits:\n  max_request_bytes: 1048576\n")
	big := `{"model":"fast","messages":[{"role":"user","content":"` + strings.Repeat("a", 1<<20) + `"}]}`
	refused(t, "too large", g.chat(big), 413, "request_too_large")
	refused(t, "too large, chunked", g.chat(big, func(r *http.Request) { r.ContentLength = -1 }), 413, "request_too_large")
	refused(t, "too large, unknown sender", g.chat(big, with("Authorization", "Bearer sk-nobody-0123456789abcd")), 401, "invalid_api_key")

	address := strings.TrimPrefix(g.url, "http://")
	head := "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + adminKey + "\r\nContent-Type: application/json\r\n"
	for name, c := range map[string]string{
		"both lengths":      head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /admin HTTP/1.1\r\nHost: x\r\n\r\n",
		"two lengths":       head + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
		"negative length":   head + "Content-Length: -1\r\n\r\n",
		"body beyond":       head + fmt.Sprintf("Content-Length: %d\r\n\r\n", 10) + good,
		"nul in the header": head + "X-Y: a\x00b\r\nContent-Length: 0\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		_, _ = io.WriteString(conn, c)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err == nil {
			if resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%s: status %d, want 400", name, resp.StatusCode)
			}
			_ = resp.Body.Close()
		}
		_ = conn.Close()
	}
	if n := p.Counters().Total; n != 0 {
		t.Errorf("the provider was asked %d times, want never", n)
	}
}

// Rows 22, 23 and 48: where it is asked.
func TestBadPathsAndMethods(t *testing.T) {
	g, p := badGateway(t, "")
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"POST", "/v1/nothing", 404},
		{"POST", "/v1/chat/completions/x", 404},
		{"POST", "/v1/%2e%2e/key/generate", 404},
		{"POST", "/v1/../key/generate", 404},
		{"POST", "/v1/.%2E/v1/chat/completions", 404},
		{"POST", "/v1/chat/completions;x", 404},
		{"GET", "/admin", 404},
		{"GET", "/config_dump", 404},
		{"GET", "/v1/chat/completions", 405},
		{"PUT", "/v1/chat/completions", 405},
		{"DELETE", "/v1/models", 405},
		{"OPTIONS", "/v1/chat/completions", 405},
		{"TRACE", "/v1/chat/completions", 405},
		{"BREW", "/v1/chat/completions", 400}, // the parser knows no such method
		{"GET", "/v1/models/nope", 404},
	} {
		refused(t, c.method+" "+c.path, g.do(c.method, c.path, strings.NewReader(good)), c.status, "")
	}
	if a := g.get("/v1/..%2fspend/logs"); a.status != http.StatusBadRequest && a.status != http.StatusNotFound {
		t.Errorf("an escaped slash: %d %s", a.status, a.body)
	}
	evil := g.chat(good, func(r *http.Request) { r.Host = "evil.example" })
	if evil.status != http.StatusOK {
		t.Errorf("another host: %d %s", evil.status, evil.body)
	}
	absolute := g.do(http.MethodPost, "/v1/chat/completions", strings.NewReader(good), func(r *http.Request) {
		r.URL.Opaque = (&url.URL{Scheme: "http", Host: r.URL.Host, Path: r.URL.Path}).String()
	})
	if absolute.status != http.StatusOK {
		t.Errorf("absolute form: %d %s", absolute.status, absolute.body)
	}
	inner := g.chat(good,
		with("x-gateway-model-id", "x"), with("x-gateway-plan", "x"), with("x-envoy-max-retries", "9"), with("x-envoy-retry-on", "5xx"),
		with("x-envoy-upstream-rq-timeout-ms", "1"), with("x-envoy-original-path", "/x"), with("mcp-init-host", "evil"), with("x-forwarded-host", "evil"), with("Cookie", "session=1"),
		with("X-Stainless-Lang", "go"), with("OpenAI-Organization", "org-callers"),
		with("Forwarded", "for=1.2.3.4"), with("Mcp-Session-Id", "s"), with("Origin", "http://evil.example"), with("Referer", "http://evil.example"),
		with("Sec-Fetch-Mode", "cors"), with("Via", "1.1 x"), with("Proxy-Authorization", "Basic x"), with("X-Extra", "1"))
	if inner.status != http.StatusOK || inner.header.Get("x-gateway-model-id") != "fast-id" {
		t.Errorf("internal headers: %d %v %s", inner.status, inner.header, inner.body)
	}
	requests := p.Requests()
	for name := range requests[len(requests)-1].Headers {
		switch strings.ToLower(name) {
		case "x-request-id", "accept", "accept-encoding", "authorization", "content-length", "content-type", "user-agent",
			"x-stainless-lang": // of the vendor's own SDK
		default:
			t.Errorf("the provider saw the header %s", name)
		}
	}
	ordinary := with("Authorization", "Bearer sk-limited-0123456789abcd")
	for _, path := range []string{"/spend/logs", "/metrics"} {
		refused(t, path+" without a key", g.get(path, without("Authorization")), 401, "missing_api_key")
	}
	refused(t, "/metrics with an ordinary key", g.get("/metrics", ordinary), 403, "insufficient_permissions")
	refused(t, "/spend/logs of another key", g.get("/spend/logs?api_key="+adminKey, ordinary), 403, "insufficient_permissions")
	if len(g.spend("")) == 0 {
		t.Error("the master key's requests are not in /spend/logs")
	}
	if own := g.get("/spend/logs", ordinary); own.status != http.StatusOK || strings.TrimSpace(own.body) != "[]" {
		t.Errorf("/spend/logs of a key that has asked for nothing: %d %s", own.status, own.body)
	}
}

// Row 16: a request that never comes to its end is cut, and says so.
func TestSlowBody(t *testing.T) {
	g, p := badGateway(t, "\nlimits:\n  request_timeout: 1\n")
	conn, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+adminKey+"\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusRequestTimeout {
		t.Errorf("%d %s %v, want 408", resp.StatusCode, body, err)
	}
	if e := (&answer{status: resp.StatusCode, body: string(body)}).error(t); *e.Error.Code != "request_timeout" {
		t.Errorf("code %s", *e.Error.Code)
	}
	if n := p.Counters().Total; n != 0 {
		t.Errorf("the provider was asked %d times", n)
	}
}

// Row 49: what abuses HTTP/2 loses its connection, and nobody else is hurt.
func TestHTTP2Abuse(t *testing.T) {
	g, _ := badGateway(t, "")
	address := strings.TrimPrefix(g.url, "http://")
	dial := func() (net.Conn, *http2.Framer) {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
			t.Fatal(err)
		}
		f := http2.NewFramer(conn, conn)
		if err := f.WriteSettings(); err != nil {
			t.Fatal(err)
		}
		return conn, f
	}
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	for _, h := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":authority", "x"}, {":path", "/v1/chat/completions"}, {"authorization", "Bearer " + adminKey}, {"content-type", "application/json"}} {
		if err := enc.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}); err != nil {
			t.Fatal(err)
		}
	}
	// drained reads until the other end has closed.
	drained := func(conn net.Conn) bool {
		_, err := io.Copy(io.Discard, conn)
		var late net.Error
		return !errors.As(err, &late) || !late.Timeout()
	}
	for name, abuse := range map[string]func(f *http2.Framer) error{
		"rapid reset": func(f *http2.Framer) error {
			for id := uint32(1); id < 40_000; id += 2 {
				if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block.Bytes(), EndHeaders: true}); err != nil {
					return err
				}
				if err := f.WriteRSTStream(id, http2.ErrCodeCancel); err != nil {
					return err
				}
			}
			return nil
		},
		"continuation flood": func(f *http2.Framer) error {
			if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes()}); err != nil {
				return err
			}
			for range 100_000 {
				if err := f.WriteContinuation(1, false, []byte{0x40, 1, 'a', 1, 'b'}); err != nil {
					return err
				}
			}
			return nil
		},
		"ping flood": func(f *http2.Framer) error {
			for range 100_000 {
				if err := f.WritePing(false, [8]byte{}); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		conn, f := dial()
		err := abuse(f)
		if err == nil && !drained(conn) {
			t.Errorf("%s: the connection is still open", name)
		}
		_ = conn.Close()
		if a := g.chat(good); a.status != http.StatusOK {
			t.Errorf("%s: another caller got %d %s", name, a.status, a.body)
		}
	}
	bomb := g.chat(good, func(r *http.Request) {
		for i := range 200 {
			r.Header.Set(fmt.Sprintf("X-Bomb-%d", i), "1")
		}
	})
	if bomb.status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("200 headers: %d, want 431", bomb.status)
	}
}

// Row 33: a report of usage that cannot be believed is replaced, one of nothing is not.
func TestBadUsage(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "negative=openai/badusage", "string=openai/badusage-string", "fraction=openai/badusage-fraction", "huge=openai/badusage-huge", "nothing=openai/badusage-null", "absent=openai/nousage"))
	for _, model := range []string{"negative", "string", "fraction", "huge", "nothing", "absent"} {
		for _, more := range []string{"", `,"stream":true`} {
			a := g.chat(request(model, more))
			if a.status != http.StatusOK {
				t.Errorf("%s: %d %s", model, a.status, a.body)
				continue
			}
			if e := g.one(a); e.Source != "estimated" || e.PromptTokens < 1 || e.PromptTokens > 100 || e.CompletionTokens < 1 || e.CompletionTokens > 100 {
				t.Errorf("%s%s: event %+v", model, more, e)
			}
		}
	}
}
