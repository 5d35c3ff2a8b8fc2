package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A response that begins and does not end is recorded with its true cause and with the
// status that the caller got.
func TestResponseThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent := string(body)
		w.Header().Set("Content-Type", "application/json")
		if !strings.Contains(sent, "headers-only") {
			_, _ = io.WriteString(w, `{"id":"c","object":"chat.completion",`)
		}
		_ = http.NewResponseController(w).Flush()
		if strings.Contains(sent, "cut") {
			panic(http.ErrAbortHandler)
		}
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	g := startGateway(t, `model_list:
  - {model_name: half, gateway_params: {model: openai/half, api_base: "`+s.URL+`/v1", api_key: k, timeout: 0.5}}
  - {model_name: none, gateway_params: {model: openai/headers-only, api_base: "`+s.URL+`/v1", api_key: k, timeout: 0.5}}
  - {model_name: cut, gateway_params: {model: openai/cut, api_base: "`+s.URL+`/v1", api_key: k}}
router_settings: {num_retries: 0, cooldown_time: 0}
`)
	for _, want := range []struct {
		model  string
		status int
		code   string
		cause  string
	}{
		{"half", http.StatusGatewayTimeout, "upstream_timeout", "timeout_total"},
		{"none", http.StatusGatewayTimeout, "upstream_timeout", "timeout_total"},
		{"cut", http.StatusBadGateway, "upstream_cut", "stream_cut"},
	} {
		a := g.chat(request(want.model, ""))
		if a.status != want.status {
			t.Errorf("%s: the caller gets %d %s", want.model, a.status, a.body)
		}
		var rows []spendLog
		g.until("the request is recorded", func() bool {
			rows = g.spend("")
			return len(rows) > 0 && rows[len(rows)-1].Group == want.model
		})
		row := rows[len(rows)-1]
		if row.Status != "failed" || row.ErrorCode != want.code || row.ClientStatus != want.status || row.HTTPStatus != http.StatusOK {
			t.Errorf("%s is recorded as %+v", want.model, row)
		}
		if len(row.Failures) != 1 || row.Failures[0].Cause != want.cause {
			t.Errorf("%s: why the attempt failed: %+v", want.model, row.Failures)
		}
		if id := a.header.Get("x-request-id"); id != row.RequestID {
			t.Errorf("%s: the caller sees the id %q, the record has %q", want.model, id, row.RequestID)
		}
	}
}
