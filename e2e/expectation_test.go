package e2e

import (
	"net/http"
	"testing"
)

// TestUnknownExpectation: a header Expect that means nothing changes no response.
func TestUnknownExpectation(t *testing.T) {
	t.Parallel()
	g := startGateway(t, models(newUpstream(t), "fast=openai/fake-gpt"))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.url+"/spend/logs", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+adminKey)
	r.Header.Set("Expect", "nothing")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	if a.StatusCode != http.StatusOK {
		t.Errorf("the response is %s", a.Status)
	}
}
