package e2e

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/e2e/porttest"
)

// othersCases is how many cases the clients of the provider of others report.
const othersCases = 216

// providerOfOthers configures models of each provider that aimock is, and for each the ways in which it fails there: models whose
// names begin with the fault.
func providerOfOthers(url string) string {
	providers := map[string]string{
		"chat":       `model: openai_compatible/gpt%s, api_base: "` + url + `/v1"`,
		"messages":   `model: anthropic/claude-sonnet-4-5%s, api_base: "` + url + `"`,
		"responses":  `model: openai/gpt-codex%s, api_base: "` + url + `/v1"`,
		"cohere":     `model: cohere/command-a%s, api_base: "` + url + `"`,
		"gemini":     `model: gemini/gemini-3-flash%s, api_base: "` + url + `"`,
		"vertex":     `model: vertex_ai/gemini-3-flash%s, api_base: "` + url + `", vertex_project: p, vertex_location: europe-west4`,
		"bedrock":    `model: bedrock/converse/anthropic.claude-sonnet-4-5%s, api_base: "` + url + `", aws_region_name: eu-west-1`, // its pieces of InvokeModel's streams lack Bedrock's envelope
		"azure":      `model: azure/gpt-5%s, api_base: "` + url + `", api_version: "2024-10-21"`,
		"openrouter": `model: openrouter/gpt-5%s, api_base: "` + url + `/v1"`,
		"elevenlabs": `model: elevenlabs/eleven_flash_v2_5%s, api_base: "` + url + `"`,
	}
	var b strings.Builder
	b.WriteString("model_list:\n")
	for name, params := range providers {
		fmt.Fprintf(&b, "  - {model_name: %s, gateway_params: {%s, api_key: k}}\n", name, fmt.Sprintf(params, ""))
		for _, fault := range []string{"broken", "limited", "garbled", "gone", "cut"} {
			fmt.Fprintf(&b, "  - {model_name: %s-%s, gateway_params: {%s, api_key: k}}\n", fault, name, fmt.Sprintf(params, "-"+fault))
		}
	}
	return b.String() + "  - {model_name: embed-cohere, gateway_params: {model: cohere/embed-v4.0, api_base: \"" + url + "\", api_key: k}}\n" +
		"  - {model_name: embed-azure, gateway_params: {model: azure/text-embedding-3-small, api_version: \"2024-10-21\", api_base: \"" + url + "\", api_key: k}}\n"
}

// A provider that others wrote serves callers of each language in each language: what ours might
// have misunderstood in the same way as the gateway, it has not.
func TestProviderOfOthers(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	port := porttest.Free(t)
	provider := exec.CommandContext(ctx, nodePath(t), "e2e/testdata/node/aimock.mjs", strings.TrimPrefix(port.String(), "127.0.0.1:"))
	out, err := provider.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := provider.StdinPipe() // the provider ends with it
	if err != nil {
		t.Fatal(err)
	}
	provider.Stderr = &lockedBuffer{}
	if err := provider.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = in.Close()
		if err := provider.Wait(); err != nil {
			t.Errorf("the provider ended with %v: %s", err, provider.Stderr)
		}
	}()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the provider is not ready: %q, %v: %s", line, err, provider.Stderr)
	}
	g := startGateway(t, providerOfOthers("http://"+port.String()))
	clients := exec.CommandContext(ctx, nodePath(t), "e2e/testdata/node/aimock_clients.mjs")
	clients.Env = append(os.Environ(), "GATEWAY_URL="+g.url, "API_KEY="+adminKey)
	report, err := clients.CombinedOutput()
	if ok := strings.Count("\n"+string(report), "\nok "); err != nil || ok != othersCases {
		t.Errorf("%d cases are well, want %d: %v\n%s", ok, othersCases, err, report)
	}
}
