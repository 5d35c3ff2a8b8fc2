package mgmt

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

// The log has denied requests and reads of other people's data, a bounded number of them, and
// no key.
func TestDeniedRequestsAndReadsAreLogged(t *testing.T) {
	s, _ := newFake(t)
	var log bytes.Buffer
	s.cfg.Logger = slog.New(slog.NewJSONHandler(&log, nil))
	from := func(key string) func(r *http.Request) {
		return func(r *http.Request) {
			if key != "" {
				r.Header.Set("Authorization", "Bearer "+key)
			}
			r.Header.Set("X-Forwarded-For", "10.0.0.1, 192.0.2.7")
			r.Header.Set("User-Agent", "curl/8")
		}
	}
	const secret = "sk-secret-of-somebody-0123456789"
	for _, c := range []struct{ target, key, want string }{
		{"GET /key/info", secret, `"status":401,"code":"invalid_api_key"`},
		{"GET /nothing/" + secret, "", `"status":404,"code":"not_found"`},
		{"GET /key/info?key=" + secret, "", `"code":"key_not_found"`},
		{"GET /user/info?user_id=nobody", "", `"code":"user_not_found"`},
		{"GET /spend/logs", "", `"msg":"management read"`},
		{"GET /spend/logs?user_id=ada", "", `"of":["user_id=ada"]`},
	} {
		log.Reset()
		ask(t, s, c.target, "", from(c.key))
		if !strings.Contains(log.String(), c.want) || strings.Contains(log.String(), secret) {
			t.Errorf("%s: the log has %s", c.target, log.String())
		}
		if strings.Contains(log.String(), "refused") && (!strings.Contains(log.String(), `"client_address":"192.0.2.7"`) || !strings.Contains(log.String(), `"user_agent":"curl/8"`)) {
			t.Errorf("%s: the log does not say from where: %s", c.target, log.String())
		}
	}
	log.Reset()
	for i := range 100 {
		ask(t, s, "GET /key/info", "", from(fmt.Sprint(secret, i)))
	}
	if n := strings.Count(log.String(), "refused"); n == 0 || n > 50 {
		t.Errorf("100 refusals are %d lines", n)
	}
}
