package kms_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/cluster/vault/kms"
)

// isolate takes away what the machine may have to sign in at a cloud with.
func isolate(t *testing.T) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	for name, value := range map[string]string{
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_PROFILE": "", "AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
		"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "CANARY", "AWS_REGION": "eu-central-1",
		"GOOGLE_APPLICATION_CREDENTIALS": filepath.Join(t.TempDir(), "none.json"),
		"AZURE_TENANT_ID":                "", "AZURE_CLIENT_ID": "", "AZURE_CLIENT_SECRET": "",
	} {
		t.Setenv(name, value)
	}
}

// TestEveryScheme checks that what the configuration takes is known here: none is
// answered as unknown, whatever else may be missing on this machine.
func TestEveryScheme(t *testing.T) {
	isolate(t)
	for _, scheme := range vault.KMSSchemes() {
		uri := map[string]string{
			"azurekeyvault": "azurekeyvault://v.vault.azure.net/keys/k",
			"gcpkms":        "gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/k",
		}[scheme]
		if uri == "" {
			uri = scheme + "://key"
		}
		k, err := kms.Open(t.Context(), uri)
		if err != nil {
			if strings.Contains(err.Error(), "not the scheme of a supported KMS") {
				t.Errorf("%s: %v", uri, err)
			}
			continue
		}
		if err := k.Close(); err != nil {
			t.Errorf("%s: %v", uri, err)
		}
	}
}

func TestRefusedURIs(t *testing.T) {
	isolate(t)
	for _, uri := range []string{
		"", "key", "s3://key", "hashivault://key?mount=x", "hashivault://key?engine=", "awskms://key?colour=red", "azurekeyvault://key",
		"azurekeyvault://v.vault.azure.net/keys/k?colour=red", "gcpkms://key", "hashivault://%zz",
	} {
		if k, err := kms.Open(t.Context(), uri); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, %v", uri, k, err)
		}
	}
}

// TestAWS wraps and unwraps by a server that speaks as AWS KMS does, and checks that
// its errors are passed on without what was sent.
func TestAWS(t *testing.T) {
	isolate(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var in map[string]any
		if err := json.Unmarshal(body, &in); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		switch target := r.Header.Get("X-Amz-Target"); {
		case in["KeyId"] == "denied":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"__type":"AccessDeniedException","message":"not authorized: `+strings.ReplaceAll(string(body), `"`, "")+`"}`)
		case target == "TrentService.Encrypt":
			_, _ = io.WriteString(w, `{"CiphertextBlob":"d3JhcHBlZA==","KeyId":"k"}`)
		case target == "TrentService.Decrypt":
			_, _ = io.WriteString(w, `{"Plaintext":"Q0FOQVJZLXRoYXQtaXMtMzItYnl0ZXMtbG9uZy14eHg=","KeyId":"k"}`)
		}
	}))
	defer server.Close()
	t.Setenv("AWS_ENDPOINT_URL_KMS", server.URL)
	k := open(t, "awskms://alias/gateway?region=eu-central-1")
	wrapped, err := k.Encrypt(t.Context(), []byte(secret))
	if err != nil || string(wrapped) != "wrapped" {
		t.Fatalf("%q, %v", wrapped, err)
	}
	if plain, err := k.Decrypt(t.Context(), wrapped); err != nil || string(plain) != secret {
		t.Errorf("%q, %v", plain, err)
	}
	_, err = open(t, "awskms://denied").Encrypt(t.Context(), []byte(secret))
	if err == nil || !strings.Contains(err.Error(), "not authorized") || strings.Contains(err.Error(), "Q0FOQVJZ") {
		t.Errorf("got %v", err)
	}
	http.DefaultClient.CloseIdleConnections()
}
