package kms_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"go.uber.org/goleak"

	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/cluster/vault/kms"
	"github.com/modelgateway/modelgateway/e2e/porttest"
)

const (
	token  = "hvs.CANARY-token"
	secret = "CANARY-that-is-32-bytes-long-xxx"
)

// engine is HashiCorp Vault with a Transit engine, as its API is documented.
type engine struct {
	mu      sync.Mutex
	version int
	wrapped map[string]string // by ciphertext, key and plaintext
}

func (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var in map[string]string
	switch {
	case err != nil || json.Unmarshal(body, &in) != nil:
		refuse(w, http.StatusBadRequest, "error parsing JSON")
		return
	case r.Header.Get("X-Vault-Token") != token || r.Header.Get("X-Vault-Namespace") != "team":
		refuse(w, http.StatusForbidden, "permission denied")
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch path := r.Method + " " + r.URL.Path; path {
	case "PUT /v1/transit/encrypt/gateway", "PUT /v1/mount/eu/encrypt/gateway":
		if _, err := base64.StdEncoding.DecodeString(in["plaintext"]); err != nil {
			refuse(w, http.StatusBadRequest, "failed to base64-decode plaintext")
			return
		}
		out := fmt.Sprintf("vault:v%d:%d", e.version, len(e.wrapped))
		e.wrapped[out] = in["plaintext"]
		answer(w, "ciphertext", out)
	case "PUT /v1/transit/decrypt/gateway", "PUT /v1/mount/eu/decrypt/gateway":
		plain, ok := e.wrapped[in["ciphertext"]]
		if !ok {
			refuse(w, http.StatusBadRequest, "invalid ciphertext: no prefix")
			return
		}
		answer(w, "plaintext", plain)
	default:
		refuse(w, http.StatusNotFound, "no handler for route "+path)
	}
}

func answer(w http.ResponseWriter, name, value string) {
	_, _ = fmt.Fprintf(w, `{"request_id":"1","lease_id":"","renewable":false,"lease_duration":0,"data":{%q:%q},"warnings":null}`, name, value)
}

func refuse(w http.ResponseWriter, status int, why string) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"errors":[%q]}`, why)
}

// at points the process at a server.
func at(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	t.Setenv("VAULT_ADDR", server.URL)
	t.Setenv("VAULT_TOKEN", token)
	t.Setenv("VAULT_NAMESPACE", "team")
	return server
}

func open(t *testing.T, uri string) vault.KMS {
	t.Helper()
	k, err := kms.Open(t.Context(), uri)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestTransit wraps and unwraps, also after the key was rotated in the KMS.
func TestTransit(t *testing.T) {
	for _, uri := range []string{"hashivault://gateway", "hashivault://gateway?engine=mount/eu"} {
		t.Run(uri, func(t *testing.T) {
			e := &engine{version: 1, wrapped: map[string]string{}}
			at(t, e)
			k := open(t, uri)
			wrapped, err := k.Encrypt(t.Context(), []byte(secret))
			if err != nil || strings.Contains(string(wrapped), "CANARY") {
				t.Fatalf("%s, %v", wrapped, err)
			}
			e.mu.Lock()
			e.version = 2
			e.mu.Unlock()
			if got, err := k.Decrypt(t.Context(), wrapped); err != nil || string(got) != secret {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// TestRingOnTransit starts a node whose KMS comes back while it waits, from the URI
// to a secret that is sealed.
func TestRingOnTransit(t *testing.T) {
	e := &engine{version: 1, wrapped: map[string]string{}}
	var asked atomic.Int32
	at(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) <= 2 {
			refuse(w, http.StatusServiceUnavailable, "Vault is sealed")
			return
		}
		e.ServeHTTP(w, r)
	}))
	source, err := vault.FromKMS("hashivault://gateway")
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	ring, err := vault.NewRing(vault.RingConfig{Primary: source, Open: kms.Open, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if err := ring.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "Vault is sealed") || !strings.Contains(log.String(), "hashivault://gateway") || strings.Contains(log.String(), "CANARY") {
		t.Errorf("log: %s", log.String())
	}
	ctx, cancel := context.WithCancel(t.Context())
	alone := &alone{ring: ring, done: make(chan struct{})}
	ring.Learn(vault.Keyring{})
	go func() {
		<-alone.done
		cancel()
	}()
	if err := ring.Run(ctx, alone); err != nil {
		t.Fatal(err)
	}
	sealed, err := ring.Seal(vault.NewSecret(secret), "place")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ring.Open(sealed, "place"); err != nil || got.Reveal() != secret {
		t.Errorf("opened: %v", err)
	}
	if n := asked.Load(); n != 4 { // two that failed, to wrap, to unwrap
		t.Errorf("the KMS was asked %d times", n)
	}
}

// alone is a cluster of one.
type alone struct {
	ring *vault.Ring
	done chan struct{}
}

func (*alone) Unlocked() {}

func (a *alone) Agree(_ context.Context, change func(vault.Keyring) (vault.Keyring, bool)) error {
	next, _ := change(vault.Keyring{})
	a.ring.Learn(next)
	close(a.done)
	return nil
}

// TestTransitRefuses has the server answer what it may, and what it should not. No
// answer does harm, and no error shows what was sent, even if it is sent back.
func TestTransitRefuses(t *testing.T) {
	echo := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		refuse(w, http.StatusBadRequest, r.Header.Get("X-Vault-Token")+" sent "+string(body)+" which is "+secret+strings.Repeat(" and more", 1000))
	}
	text := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"echo":           {echo, "[redacted] sent"},
		"denied":         {func(w http.ResponseWriter, _ *http.Request) { refuse(w, 403, "permission denied") }, "permission denied"},
		"sealed":         {func(w http.ResponseWriter, _ *http.Request) { refuse(w, 503, "Vault is sealed") }, "Vault is sealed"},
		"no content":     {text(204, ""), "is the Transit engine mounted there"},
		"not found":      {text(404, ""), "Code: 404"},
		"other data":     {text(200, `{"data":{"keys":["a"]}}`), "is the Transit engine mounted there"},
		"other type":     {text(200, `{"data":{"ciphertext":{"a":1},"plaintext":7}}`), "is the Transit engine mounted there"},
		"null":           {text(200, `null`), ""},
		"no JSON":        {text(200, `<html>CANARY`), ""},
		"a broken proxy": {text(502, `<html>`+strings.Repeat("Bad Gateway ", 1000)), "Bad Gateway"},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://127.0.0.1:1/", http.StatusFound)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			at(t, c.handler)
			k := open(t, "hashivault://gateway")
			_, encrypt := k.Encrypt(t.Context(), []byte(secret))
			_, decrypt := k.Decrypt(t.Context(), []byte("vault:v1:CANARY"))
			for _, err := range []error{encrypt, decrypt} {
				if err == nil {
					t.Fatal("no error")
				}
				if name != "echo" && !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %s", err, c.want)
				}
				if len([]rune(err.Error())) > 500 || strings.Contains(err.Error(), "\n") {
					t.Errorf("%d bytes: %v", len(err.Error()), err)
				}
			}
			if shown := encrypt.Error(); strings.Contains(shown, token) || strings.Contains(shown, secret) || strings.Contains(shown, base64.RawStdEncoding.EncodeToString([]byte(secret))) {
				t.Errorf("shown: %s", shown)
			}
			if strings.Contains(decrypt.Error(), token) {
				t.Errorf("shown: %v", decrypt)
			}
		})
	}
}

// TestPlaintextThatIsNone checks that what was unwrapped is not quoted.
func TestPlaintextThatIsNone(t *testing.T) {
	at(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w, "plaintext", secret+"!") }))
	if _, err := open(t, "hashivault://gateway").Decrypt(t.Context(), []byte("vault:v1:1")); err == nil || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("got %v", err)
	}
}

// TestTransitHangs ends a question with its context.
func TestTransitHangs(t *testing.T) {
	release := make(chan struct{})
	server := at(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-release:
		}
	}))
	defer close(release)
	defer server.CloseClientConnections()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := open(t, "hashivault://gateway").Encrypt(ctx, []byte(secret)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestNobodyListens(t *testing.T) {
	at(t, http.NotFoundHandler())
	t.Setenv("VAULT_ADDR", "http://"+porttest.Free(t).String())
	_, err := open(t, "hashivault://gateway").Encrypt(t.Context(), []byte(secret))
	if err == nil || !strings.Contains(err.Error(), "connection refused") || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("got %v", err)
	}
}
