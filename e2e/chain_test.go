package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/examples/upstream/fake"
)

// A chat with calls and reasoning in its history goes on over five languages, from Azure to Bedrock to Vertex AI to Anthropic to Mistral, to wherever
// a model answers. What each is sent is valid to its judge.
func TestFallbackOverFiveLanguages(t *testing.T) {
	t.Parallel()
	vertex, azure, aws, direct := newVertex(t), newAzure(t), newUpstream(t), newUpstream(t)
	list := onAzure(azure, "one=fail-503", "two=fail-503", "three=fail-503", "four=fail-503")
	for _, more := range []string{
		bedrockModels(aws, "bedrock-down="+nova+":fail-503", "bedrock="+nova),
		onVertex(vertex, "gemini-limited=limited", "gemini=gemini-3-flash"),
		models(direct, "claude-down=anthropic/fail-529", "claude=anthropic/claude-sonnet-4-5"),
		vendors(direct, "mistral=mistral/fake-mistral"),
	} {
		list += strings.TrimPrefix(more, "model_list:\n")
	}
	g := startGateway(t, list+`
router_settings:
  num_retries: 0
  cooldown_time: 0
  fallbacks:
    - one: [bedrock]
    - two: [bedrock-down, gemini]
    - three: [bedrock-down, gemini-limited, claude]
    - four: [bedrock-down, gemini-limited, claude-down, mistral]
`)
	for model, served := range map[string]string{"one": "bedrock-id", "two": "gemini-id", "three": "claude-id", "four": "mistral-id"} {
		for _, stream := range []string{"", `,"stream":true`} {
			a := g.chat(fmt.Sprintf(toolHistory, model, "", stream))
			if got := a.header.Get("x-gateway-model-id"); a.status != http.StatusOK || got != served {
				t.Errorf("%s%s: %d by %q: %s", model, stream, a.status, got, a.body)
			}
			if !strings.Contains(a.body, "answered: ") && !strings.Contains(a.body, `"finish_reason":"tool_calls"`) {
				t.Errorf("%s%s: the provider has not seen the results: %s", model, stream, a.body)
			}
		}
	}
	judgeBedrock(t, aws.Requests())
	google := vertex.taken()
	judgeChain(t, google, direct.Requests())
	hops := map[string]int{"azure": len(azure.Requests()), "bedrock": len(aws.Requests()), "vertex": len(google)}
	for _, r := range direct.Requests() {
		hops[strings.Split(r.Path, "/")[1]]++
	}
	if diff := cmp.Diff(map[string]int{"azure": 8, "bedrock": 8, "vertex": 6, "v1": 4, "mistral": 2}, hops); diff != "" {
		t.Errorf("the hops were (-want +got) %s", diff)
	}
}

// judgeChain has the SDKs of Google and Mistral judge what they were sent. Requests to Azure are judged by OpenAI's document where they arrive,
// and what Anthropic is sent by the fake provider.
func judgeChain(t *testing.T, google []vertexCall, direct []fake.Request) {
	t.Helper()
	var cases []judgedCall
	for i, c := range google {
		cases = append(cases, judgedCall{fmt.Sprint("google ", i), "request", c.Body})
	}
	judgeBy(t, "extproc/gemini/testdata/judge.py", cases)
	cases = nil
	for _, r := range direct {
		if !strings.HasPrefix(r.Path, mistralPath) {
			continue
		}
		kind := "mistral request"
		if strings.Contains(r.Body, `"stream":true`) {
			kind = "mistral stream"
		}
		cases = append(cases, judgedCall{fmt.Sprint("mistral ", r.Seq), kind, r.Body})
	}
	judgeBy(t, "extproc/provider/testdata/judge.py", cases)
}

// judgedCall is a request that a vendor's SDK judges.
type judgedCall struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// judgeBy fails the test if a script finds a problem with one of the requests. There must be some.
func judgeBy(t *testing.T, script string, cases []judgedCall) {
	t.Helper()
	var in bytes.Buffer
	for _, c := range cases {
		line, err := json.Marshal(&c)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	cmd := exec.CommandContext(t.Context(), pythonPath(t), script)
	cmd.Stdin = &in
	out, err := cmd.Output()
	lines := slices.Collect(bytes.Lines(out))
	if err != nil || len(lines) != len(cases) || len(cases) == 0 {
		t.Fatalf("%s judged %d of %d requests: %v", script, len(lines), len(cases), err)
	}
	for i, line := range lines {
		if !bytes.Contains(line, []byte(`"problems": []`)) {
			t.Errorf("%s: %s", line, cases[i].Value)
		}
	}
}
