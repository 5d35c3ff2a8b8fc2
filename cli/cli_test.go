package cli_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/modelgateway/modelgateway/cli"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

// fake is a gateway that says what it was asked and answers what it is told.
type fake struct {
	asked   []cli.Request
	answers []string
	errs    []error
}

func (f *fake) Call(_ context.Context, r cli.Request) ([]byte, error) {
	n := len(f.asked)
	f.asked = append(f.asked, r)
	if n < len(f.errs) && f.errs[n] != nil {
		return nil, f.errs[n]
	}
	if len(f.answers) == 0 {
		return []byte("{}"), nil
	}
	return []byte(f.answers[min(n, len(f.answers)-1)]), nil
}

// run runs a command and returns what it prints.
func run(t *testing.T, f *fake, stdin string, args ...string) (out, errOut string, err error) {
	t.Helper()
	root := &cobra.Command{Use: "modelgateway", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(cli.Commands(cli.Config{
		Document: func() []byte {
			return []byte(`{"paths":{"/key/list":{"get":{"summary":"Shows keys.","parameters":[{"name":"team_id","description":"Only keys of this team."}]}}}}`)
		},
		Caller: func(*cobra.Command) (cli.Caller, error) { return f, nil },
		Getenv: func(name string) string { return map[string]string{"PROVIDER_KEY": "sk-provider"}[name] },
	}, func(cmd *cobra.Command) { cmd.Flags().String("url", "", ""); cmd.Flags().String("key", "", "") })...)
	var o, e bytes.Buffer
	root.SetOut(&o)
	root.SetErr(&e)
	root.SetIn(strings.NewReader(stdin))
	root.SetArgs(args)
	err = root.ExecuteContext(t.Context())
	return o.String(), e.String(), err
}

// TestEveryOperationIsACommand: what the API can, the command line can. Nodes have
// commands of their own.
func TestEveryOperationIsACommand(t *testing.T) {
	have := map[string]bool{}
	for _, c := range cli.Commands(cli.Config{}, func(cmd *cobra.Command) {}) {
		for _, sub := range c.Commands() {
			if have[sub.Short] {
				t.Errorf("%s %s: %s is a command already", c.Name(), sub.Name(), sub.Short)
			}
			have[sub.Short] = true
		}
	}
	seen := map[string]bool{}
	for _, r := range surface.Routes() {
		if seen[r.RPC] || strings.Contains(r.RPC, "ClusterService") {
			continue
		}
		seen[r.RPC] = true
		if !have[r.Method+" "+r.Path] {
			t.Errorf("%s is no command", r.RPC)
		}
	}
	if len(have) != len(seen) {
		t.Errorf("%d commands for %d operations", len(have), len(seen))
	}
}

func TestRequests(t *testing.T) {
	file := filepath.Join(t.TempDir(), "messages.json")
	if err := os.WriteFile(file, []byte(`[{"role": "system", "content": "Hi {{ name }}."}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args  string
		stdin string
		want  string // method, path, body
	}{
		{"key generate --models fast,slow --models x --duration 30d --key-alias ci --max-budget 0.10", "", `POST /key/generate {"duration":"30d","key_alias":"ci","max_budget":0.10,"models":["fast","slow","x"]}`},
		{"key generate --metadata {\"a\":1} --aliases a=b --model-rpm-limit m=60 --blocked", "", `POST /key/generate {"aliases":{"a":"b"},"blocked":true,"metadata":{"a":1},"model_rpm_limit":{"m":60}}`},
		{"key new", "", `POST /key/generate {}`},
		{"key info sk-1", "", `GET /key/info?key=sk-1 `},
		{"key list --team-id research --size 5 --return-full-object", "", `GET /key/list?return_full_object=true&size=5&team_id=research `},
		{"key list", "", `GET /key/list?return_full_object=true `},
		{"key list --return-full-object=false", "", `GET /key/list?return_full_object=false `},
		{"key list -o json", "", `GET /key/list `},
		{"key delete sk-1 sk-2", "", `POST /key/delete {"keys":["sk-1","sk-2"]}`},
		{"key update sk-1 --tpm-limit 5 --clear models", "", `POST /key/update {"clear":["models"],"key":"sk-1","tpm_limit":5}`},
		{"team member-add research --member {\"user_id\":\"ada\",\"role\":\"admin\"}", "", `POST /team/member_add {"member":[{"user_id":"ada","role":"admin"}],"team_id":"research"}`},
		{"team patch a/b --team-alias x", "", `PATCH /team/a%2Fb {"team_alias":"x"}`},
		{"team model-add research a b", "", `POST /team/model/add {"models":["a","b"],"team_id":"research"}`},
		{"model new chat --model openai/gpt-4o --api-key os.environ/PROVIDER_KEY --id chat-1", "", `POST /model/new {"gateway_params":{"api_key":"sk-provider","model":"openai/gpt-4o"},"model_info":{"id":"chat-1"},"model_name":"chat"}`},
		{"model new chat --model openai/gpt-4o --api-key -", "sk-from-stdin\n", `POST /model/new {"gateway_params":{"api_key":"sk-from-stdin","model":"openai/gpt-4o"},"model_name":"chat"}`},
		{"fallback info openai/gpt-4o", "", `GET /fallbacks/openai/gpt-4o `},
		{"fallback new chat a b", "", `POST /fallbacks {"fallback_models":["a","b"],"model":"chat"}`},
		{"credential delete production", "", `DELETE /credentials/production `},
		{"prompt update greeting --messages @" + file, "", `PUT /prompts/greeting {"messages":[{"content":"Hi {{ name }}.","role":"system"}]}`},
		{"prompt render greeting --variables {\"name\":\"Ada\"}", "", `POST /prompts/greeting/render {"variables":{"name":"Ada"}}`},
		{
			"guardrail create pii --engine presidio --entities PERSON,EMAIL_ADDRESS --action anonymize --hooks pre_call,post_call", "",
			`POST /guardrail {"engines":[{"config":{"action":"anonymize","entities":["PERSON","EMAIL_ADDRESS"]},"engine_name":"presidio","event_hooks":["pre_call","post_call"]}],"guardrail_name":"pii"}`,
		},
		{"guardrail create keys --engine detect_secret", "", `POST /guardrail {"engines":[{"config":{},"engine_name":"detect_secret"}],"guardrail_name":"keys"}`},
		{"guardrail apply pii hello", "", `POST /guardrail/apply {"guardrail_id":"pii","text":"hello"}`},
		{"settings set num_retries 3", "", `POST /config/field/update {"field_name":"num_retries","field_value":3}`},
		{"settings set routing_strategy least-busy", "", `POST /config/field/update {"field_name":"routing_strategy","field_value":"least-busy"}`},
		{"budget new b --body {\"max_budget\":1e2,\"tpm_limit\":4} --tpm-limit 5", "", `POST /budget/new {"budget_id":"b","max_budget":1e2,"tpm_limit":5}`},
	} {
		f := &fake{}
		if _, _, err := run(t, f, tc.stdin, strings.Fields(tc.args)...); err != nil && !strings.Contains(tc.args, "@") {
			t.Errorf("%s: %v", tc.args, err)
			continue
		}
		if len(f.asked) != 1 {
			t.Errorf("%s: asked %d times", tc.args, len(f.asked))
			continue
		}
		r := f.asked[0]
		if got := r.Method + " " + r.Path + " " + string(r.Body); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.args, got, tc.want)
		}
		if (r.IdempotencyKey != "") != (r.Method != http.MethodGet) {
			t.Errorf("%s: its idempotency key is %q", tc.args, r.IdempotencyKey)
		}
	}
}

func TestRefusedInput(t *testing.T) {
	for args, want := range map[string]string{
		"key generate --max-budget ten":                  "--max-budget is a number",
		"key generate --metadata x":                      "--metadata takes JSON",
		"key generate --aliases x":                       "takes name=value",
		"key generate --blocked=perhaps":                 "is true or false",
		"key generate --api-kye x":                       "unknown flag",
		"key generate unexpected":                        "is not expected here",
		"guardrail new g --entities PERSON":              "Give --engine too",
		"guardrail new g --engine presidio --engines []": "say the same thing",
		"key info -o xml":                                "table, json or yaml",
		"prompt info":                                    "prompt_id is missing",
		"model new x --api-key @/not/there":              "cannot be read",
		"model new x --api-key os.environ/X":             "X is not set",
		"budget new --body [1]":                          "no JSON object",
	} {
		f := &fake{}
		_, _, err := run(t, f, "", strings.Fields(args)...)
		if err == nil || !strings.Contains(err.Error(), want) || len(f.asked) > 0 {
			t.Errorf("%s: %v (asked %d times), want something with %q", args, err, len(f.asked), want)
		}
	}
}

// TestAsksAgainUnderTheSameKey: a change that got no answer is asked for once more,
// and can be told to be the same.
func TestAsksAgainUnderTheSameKey(t *testing.T) {
	broken := cli.UnansweredError{Err: errors.New("the connection broke")}
	f := &fake{errs: []error{broken}, answers: []string{`{"key":"sk-1"}`}}
	out, _, err := run(t, f, "", "key", "generate")
	if err != nil || len(f.asked) != 2 || f.asked[0].IdempotencyKey != f.asked[1].IdempotencyKey || !strings.Contains(out, "sk-1") {
		t.Errorf("%v, asked %v, printed %q", err, f.asked, out)
	}
	f = &fake{errs: []error{broken}}
	if _, _, err := run(t, f, "", "key", "info"); err == nil || len(f.asked) != 1 {
		t.Errorf("a read was asked %d times (%v)", len(f.asked), err)
	}
	f = &fake{errs: []error{errors.New("no")}}
	if _, _, err := run(t, f, "", "key", "generate"); err == nil || len(f.asked) != 1 {
		t.Errorf("a refused change was asked %d times (%v)", len(f.asked), err)
	}
}

func TestTables(t *testing.T) {
	f := &fake{answers: []string{`{"keys":[{"key_name":"sk-...abcd","key_alias":"ci","status":"active","models":["a","b"],"max_budget":null,"metadata":{},"token":"9f86"},{"key_name":"sk-...ef\u001b[31m","models":[]}],"total_count":7,"current_page":1}`}}
	out, note, err := run(t, f, "", "key", "list", "--return-full-object")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"KEY_NAME          KEY_ALIAS  STATUS  TEAM_ID  USER_ID  MODELS  MAX_BUDGET  EXPIRES  CREATED_AT  TOKEN",
		"sk-...abcd        ci         active  -        -        a,b     -           -        -           9f86",
		`sk-...ef\x1b[31m  -          -       -        -        -       -           -        -           -`,
		"",
	}
	if diff := cmp.Diff(want, strings.Split(out, "\n")); diff != "" || note != "2 of 7\n" {
		t.Errorf("note %q, table (-want +got):\n%s", note, diff)
	}
	f = &fake{answers: []string{`{"key":"sk-new","blocked":false,"models":["a"],"expires":null,"key_alias":"ci"}`}}
	if out, _, err = run(t, f, "", "key", "generate"); err != nil || out != "key        sk-new\nmodels     a\nkey_alias  ci\n" {
		t.Errorf("%q, %v", out, err)
	}
	f = &fake{answers: []string{`{"b":1,"a":[]}`}}
	if out, _, err = run(t, f, "", "team", "info", "x", "-o", "json"); err != nil || !slices.Contains(strings.Split(out, "\n"), "\t\"b\": 1,") {
		t.Errorf("%q, %v", out, err)
	}
}

func TestHelp(t *testing.T) {
	out, _, err := run(t, &fake{}, "", "key", "list", "--help")
	if err != nil || !strings.Contains(out, "Shows keys.") || !strings.Contains(out, "--team-id text") || !strings.Contains(out, "Only keys of this team.") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// TestPromptArguments: the commands for prompts take names and versions without flags.
func TestPromptArguments(t *testing.T) {
	for args, want := range map[string]cli.Request{
		"prompt diff support 3 5":               {Method: http.MethodGet, Path: "/prompts/support/diff?from=3&to=5"},
		"prompt label support production 5":     {Method: http.MethodPut, Path: "/prompts/support/labels/production", Body: []byte(`{"version":5}`)},
		"prompt usage support":                  {Method: http.MethodGet, Path: "/prompts/support/usage"},
		"prompt diff support 3 5 --format=text": {Method: http.MethodGet, Path: "/prompts/support/diff?format=text&from=3&to=5"},
	} {
		f := &fake{answers: []string{"--- support@3\n"}}
		out, _, err := run(t, f, "", strings.Fields(args)...)
		if err != nil || len(f.asked) != 1 || out != "--- support@3\n" {
			t.Errorf("%s: %v %q", args, err, out)
			continue
		}
		f.asked[0].IdempotencyKey = ""
		if diff := cmp.Diff(want, f.asked[0]); diff != "" {
			t.Errorf("%s: %s", args, diff)
		}
	}
}
