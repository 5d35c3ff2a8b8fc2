package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/modelgateway/modelgateway/"

// importRow says which packages of this module the packages it names may import.
type importRow struct {
	pkg string
	may []string
}

// importRows is the map of the module: all entries are patterns of matchImport,
// and the first row that matches a package decides. A package without a row is
// an error, so a new folder has to say where it stands.
func importRows() []importRow {
	return []importRow{
		{".", []string{"cli", "cluster/fault"}},
		{"cli/promptfile", nil},
		{"cli", []string{"cli/promptfile", "gateway", "cluster/audit", "cluster/block", "cluster/segment", "cluster/store", "cluster/vault", "extproc/guard/*", "proto/gen", "proto/gen/cluster/*", "proto/gen/gateway/*"}},
		{"gateway", []string{"auditsink", "bucket", "cluster", "cluster/*", "cluster/cloud/*", "cluster/vault/kms", "config", "envoy/*", "extproc", "extproc/*", "extproc/guard/remote", "mgmt", "mgmt/*", "proto/gen", "xds"}},

		{"dataplane", nil},
		{"cluster/id", nil},
		{"cluster/address", nil},
		{"cluster/money", nil},
		{"cluster/fault", nil},
		{"cluster/clock", nil},
		{"cluster/event", []string{"cluster/id", "cluster/money"}},
		{"cluster/inject", nil},
		{"cluster/vault", nil},
		{"cluster/cloud", []string{"cluster/fault", "cluster/vault"}},
		{"cluster/cloud/outbound", []string{"cluster/address", "cluster/cloud"}},
		{"cluster/cloud/awstoken", []string{"cluster/cloud", "cluster/cloud/outbound", "cluster/vault"}},
		{"cluster/cloud/googletoken", []string{"cluster/cloud", "cluster/cloud/outbound", "cluster/vault"}},
		{"cluster/cloud/entratoken", []string{"cluster/cloud", "cluster/cloud/outbound", "cluster/vault"}},
		{"cluster/cloud/tokentest", []string{"cluster/catalog", "cluster/cloud", "cluster/cloud/outbound", "cluster/cloud/token", "cluster/id", "cluster/vault"}},
		{"cluster/cloud/token", []string{"cluster/catalog", "cluster/cloud", "cluster/cloud/outbound", "cluster/fault", "cluster/id"}},
		{"cluster/access", []string{"cluster/fault", "dataplane", "proto/gen/gateway/surface"}},
		{"cluster/period", []string{"cluster/fault"}},
		{"cluster/usage", []string{"cluster/id", "cluster/money", "proto/gen/cluster/*"}},
		{"envoy/contract", []string{"cluster/id"}},

		{"cluster/store", []string{"cluster/inject", "cluster/fault", "cluster/id", "proto/gen/cluster/*"}},
		{"cluster/store/storetest", nil},
		{"cluster/gossip", []string{"cluster/fault", "cluster/id", "proto/gen/cluster/*"}},
		{"cluster/prompts", []string{"cluster/prompts/template", "cluster/event", "cluster/fault", "cluster/id", "cluster/resource", "cluster/record", "cluster/store", "cluster/table", "proto/gen/cluster/*"}},
		{"cluster/record", []string{"cluster/event", "cluster/fault", "cluster/id", "cluster/money", "cluster/store", "proto/gen/cluster/*"}},
		{"cluster/record/recordtest", []string{"cluster/record", "cluster/fault", "cluster/store", "proto/gen/cluster/*"}},
		{"cluster/resource", []string{"cluster/event", "cluster/fault", "cluster/id", "cluster/record", "cluster/store", "cluster/table"}},
		{"cluster/table", []string{"cluster/event", "cluster/record", "cluster/store"}},
		{"cluster/credential", []string{"cluster/fault", "cluster/id", "cluster/vault"}},
		{"cluster/tenancy", []string{
			"cluster/access", "cluster/address", "cluster/credential", "cluster/event", "cluster/id", "cluster/money", "cluster/fault", "cluster/period", "cluster/vault", "cluster/usage",
			"cluster/store", "cluster/record", "cluster/table", "proto/gen/cluster/*", "proto/gen/gateway/surface",
		}},
		{"cluster/tenancy/tenancytest", []string{
			"cluster/access", "cluster/credential", "cluster/fault", "cluster/id", "cluster/record", "cluster/record/recordtest", "cluster/store", "cluster/tenancy",
			"cluster/vault", "proto/gen/cluster/*",
		}},
		{"cluster/listing", []string{"cluster/id", "cluster/record", "cluster/table", "cluster/tenancy"}},
		{"cluster/rights", []string{"cluster/access", "cluster/fault", "cluster/id", "cluster/money", "cluster/period", "cluster/record", "cluster/tenancy", "proto/gen/gateway/surface"}},
		{"cluster/usageaudit", []string{"cluster/event", "cluster/id", "cluster/ledger", "cluster/usage", "proto/gen/cluster/*"}},
		{"cluster/price", []string{"cluster/fault", "cluster/money", "cluster/usage"}},
		{"cluster/catalog", []string{
			"cluster/address", "cluster/cloud", "cluster/event", "cluster/id", "cluster/money", "cluster/fault", "cluster/price", "cluster/vault", "cluster/usage",
			"cluster/store", "cluster/record", "cluster/table", "proto/gen/cluster/*",
		}},
		{"cluster/consensus", []string{"cluster/consensus/archive", "cluster/fault", "cluster/id", "cluster/store", "proto/gen/cluster/*"}},
		{"cluster/consensus/archive", nil},
		{"cluster/block", []string{"cluster/fault", "cluster/inject", "cluster/store", "proto/gen/cluster/*"}},
		{"cluster/segment", []string{"cluster/block", "cluster/fault", "cluster/inject", "cluster/store"}},
		{"cluster/history", []string{
			"cluster/audit", "cluster/block", "cluster/fault", "cluster/inject", "cluster/ledger", "cluster/record", "cluster/segment", "cluster/store",
			"cluster/vault", "proto/gen/cluster/*",
		}},
		{"cluster/membership", []string{
			"cluster/consensus", "cluster/fault", "cluster/id", "cluster/peer", "cluster/record", "cluster/store", "proto/gen/cluster/*",
		}},
		{"cluster/ship", []string{"cluster/consensus", "cluster/fault", "cluster/inject", "cluster/journal", "cluster/store", "proto/gen/cluster/*"}},
		{"cluster/restore", []string{
			"cluster/event", "cluster/fault", "cluster/id", "cluster/ledger", "cluster/record", "cluster/store", "proto/gen/cluster/*",
		}},
		{"cluster/*", []string{
			"cluster/address", "cluster/event", "cluster/id", "cluster/money", "cluster/fault", "cluster/inject", "cluster/vault", "cluster/usage",
			"cluster/block", "cluster/store", "cluster/record", "cluster/resource", "cluster/table", "proto/gen/cluster/*",
		}},
		{"cluster/prompts/template", []string{"cluster/prompts/template/*", "cluster/fault"}},
		{"cluster/prompts/template/values", []string{"cluster/fault"}},
		{"cluster/prompts/template/library", []string{"cluster/prompts/template/values", "cluster/fault"}},
		{"cluster/prompts/template/syntax", []string{"cluster/prompts/template/library", "cluster/prompts/template/values", "cluster/fault"}},
		{"cluster/vault/kms", []string{"cluster/vault"}},
		{"cluster/link/memlink", []string{"cluster/link", "cluster/id", "cluster/fault"}},
		{"cluster", []string{"cluster/*", "proto/gen/cluster/*"}},
		{"e2e/**", nil},

		{"extproc/attach", []string{"extproc/frame"}},
		{"extproc/wire", []string{"cluster/fault", "cluster/money", "cluster/usage"}},
		{"extproc/message", []string{"extproc/splice"}},
		{"extproc/splice", []string{"extproc/form", "cluster/fault", "cluster/usage"}},
		{"extproc/media", nil},
		{"extproc/dialect", []string{"extproc/wire", "cluster/fault", "cluster/usage"}},
		{"extproc/driver", []string{"extproc/splice", "extproc/wire", "cluster/cloud", "cluster/fault", "cluster/usage", "cluster/vault"}},
		{"extproc/openai", []string{"extproc/dialect", "extproc/driver", "extproc/wire", "cluster/fault", "cluster/money", "cluster/usage", "cluster/vault"}},
		{"extproc/openai/openaitest", []string{"dataplane"}},
		{"extproc/judgetest", nil},
		{"extproc/anthropic", []string{"extproc/dialect", "extproc/driver", "extproc/splice", "extproc/unmark", "extproc/wire", "cluster/fault", "cluster/money", "cluster/usage", "cluster/vault"}},
		{"extproc/responses", []string{"extproc/dialect", "extproc/driver", "extproc/wire", "cluster/fault", "cluster/money", "cluster/usage", "cluster/vault"}},
		{"extproc/cohere", []string{"extproc/dialect", "extproc/driver", "extproc/wire", "cluster/fault", "cluster/usage", "cluster/vault"}},
		{"extproc/coherecaller", []string{"extproc/cohere", "extproc/dialect", "extproc/splice", "extproc/wire", "cluster/fault", "cluster/usage"}},
		{"extproc/contents", []string{"extproc/splice", "cluster/fault", "cluster/usage"}},
		{"extproc/unmark", []string{"extproc/splice"}},
		{"extproc/converse", []string{"extproc/dialect", "extproc/splice", "extproc/unmark", "extproc/wire", "cluster/fault", "cluster/usage"}},
		{"extproc/googleschema", []string{"extproc/contents"}},
		{"extproc/googlecaller", []string{"extproc/contents", "extproc/dialect", "extproc/gemini", "extproc/googleschema", "extproc/splice", "extproc/wire", "cluster/fault", "cluster/usage"}},
		{"extproc/googleembed", []string{"extproc/dialect", "extproc/googlecaller", "cluster/fault"}},
		{"extproc/gemini", []string{"extproc/contents", "extproc/dialect", "extproc/driver", "extproc/googleschema", "extproc/media", "extproc/splice", "extproc/transcript", "extproc/wire", "cluster/fault", "cluster/usage"}},
		{"extproc/vertex", []string{"cluster/cloud", "cluster/fault", "cluster/vault", "extproc/anthropic", "extproc/driver", "extproc/gemini", "extproc/mistral", "extproc/openai", "extproc/wire"}},
		{"extproc/azure", []string{"cluster/cloud", "cluster/fault", "cluster/vault", "extproc/anthropic", "extproc/driver", "extproc/openai", "extproc/wire"}},
		{"extproc/mistral", []string{"extproc/dialect", "extproc/driver", "extproc/wire", "cluster/fault", "cluster/usage", "cluster/vault"}},
		{"extproc/voyage", []string{"extproc/driver", "extproc/splice", "extproc/wire", "cluster/fault", "cluster/vault"}},
		{"extproc/jina", []string{"extproc/driver", "extproc/splice", "extproc/wire", "cluster/fault", "cluster/vault"}},
		{"extproc/transcript", []string{"extproc/driver", "extproc/splice", "extproc/wire", "cluster/fault", "cluster/usage"}},
		{"extproc/elevenlabs", []string{"extproc/driver", "extproc/splice", "extproc/transcript", "extproc/wire", "cluster/fault"}},
		{"extproc/deepgram", []string{"extproc/driver", "extproc/splice", "extproc/transcript", "extproc/wire", "cluster/fault", "cluster/vault"}},
		{"extproc/bedrock", []string{"extproc/anthropic", "extproc/dialect", "extproc/driver", "extproc/openai", "extproc/responses", "extproc/splice", "extproc/wire", "cluster/cloud", "cluster/fault", "cluster/usage", "cluster/vault"}},
		{"extproc/eventstream", []string{"extproc/splice", "cluster/fault"}},
		{"extproc/framing", []string{"extproc/driver", "extproc/eventstream", "extproc/splice", "extproc/wire"}},
		{"extproc/compose", []string{"extproc/anthropic", "extproc/bedrock", "extproc/cohere", "extproc/driver", "extproc/gemini", "extproc/googlecaller", "extproc/openai", "extproc/responses", "extproc/splice", "extproc/wire", "cluster/fault", "cluster/prompts"}},
		{"extproc/provider", []string{"cluster/catalog", "cluster/cloud", "extproc/azure", "extproc/driver", "extproc/openai", "extproc/anthropic", "extproc/bedrock", "extproc/cohere", "extproc/deepgram", "extproc/elevenlabs", "extproc/gemini", "extproc/jina", "extproc/mistral", "extproc/responses", "extproc/splice", "extproc/vertex", "extproc/voyage", "extproc/wire"}},
		{"extproc/operation", []string{
			"extproc/anthropic", "extproc/coherecaller", "extproc/contents", "extproc/converse", "extproc/dialect", "extproc/driver", "extproc/eventstream", "extproc/gemini", "extproc/googlecaller", "extproc/googleembed", "extproc/openai", "extproc/responses", "extproc/splice", "extproc/texts", "extproc/wire",
			"cluster/fault", "cluster/id", "cluster/usage", "dataplane",
		}},
		{"extproc/admission", []string{"extproc/message", "extproc/throttle", "cluster/*"}},
		{"extproc/metering", []string{
			"extproc/driver", "extproc/estimate", "extproc/media", "extproc/operation", "extproc/splice", "extproc/texts", "extproc/tokens", "extproc/wire", "cluster/*",
		}},
		{"extproc/sealed", []string{"extproc/openai", "extproc/splice", "extproc/wire", "cluster/id", "cluster/tenancy", "cluster/vault"}},
		{"extproc/discover", []string{"cluster/address", "cluster/catalog", "cluster/cloud", "cluster/fault", "extproc/driver", "extproc/provider", "extproc/wire"}},
		{"extproc/reply", []string{"extproc/message", "extproc/metering", "extproc/redact", "envoy/contract"}},
		// The stages know no transport: neither package extproc nor frames.
		{"extproc/pipeline", []string{
			"extproc/admission", "extproc/attempt", "extproc/cause", "extproc/compose", "extproc/contents", "extproc/dialect", "extproc/driver", "extproc/estimate", "extproc/flood", "extproc/form", "extproc/framing", "extproc/guard", "extproc/guard/engine", "extproc/inbound", "extproc/inflight", "extproc/message", "extproc/metering", "extproc/metrics", "extproc/operation",
			"extproc/provider", "extproc/redact", "extproc/reply", "extproc/sealed", "extproc/splice", "extproc/strategy", "extproc/texts", "extproc/tokens", "extproc/unread", "extproc/wire",
			"cluster", "cluster/*", "cluster/prompts/template", "dataplane", "envoy/contract",
		}},
		{"extproc/guard/engine", []string{"extproc/texts"}},
		{"extproc/guard/engine/enginetest", []string{"extproc/guard/engine", "extproc/texts"}},
		{"extproc/guard", []string{"extproc/guard/*", "extproc/splice", "extproc/texts", "extproc/wire", "cluster/fault", "cluster/guardrails", "cluster/id", "cluster/resource", "cluster/usage", "cluster/vault"}},
		{"extproc/guard/names/tagger", nil},
		{"extproc/guard/names", []string{"extproc/guard/names/tagger", "extproc/guard/evaluate", "extproc/guard/engine", "extproc/guard/engine/enginetest", "extproc/texts"}},
		{"extproc/guard/remote", []string{"extproc/guard/engine", "extproc/guard/engine/enginetest", "extproc/texts", "cluster/address", "cluster/signature", "cluster/vault"}},
		{"extproc/guard/*", []string{"extproc/guard/engine", "extproc/guard/engine/enginetest", "extproc/texts", "cluster/fault"}},
		{"extproc/estimate", []string{"extproc/splice", "extproc/texts", "extproc/tokens", "cluster/*"}},
		{"extproc/inbound", []string{"dataplane", "extproc/message", "extproc/splice", "extproc/trace", "cluster/credential", "cluster/fault", "cluster/id"}},
		{"extproc/unread", []string{"dataplane", "extproc/driver", "extproc/inbound", "extproc/operation", "extproc/provider", "cluster/catalog", "cluster/fault", "cluster/tenancy"}},
		{"extproc/metrics", []string{"extproc/spenders", "cluster/*"}},
		{"extproc/attempt", []string{"extproc/cause", "extproc/redact", "extproc/wire", "cluster/*"}},
		{"extproc/cause", nil},
		{"extproc/form", []string{"cluster/fault"}},
		{"extproc/*", []string{"extproc/wire", "extproc/splice", "extproc/message", "cluster/*"}},
		{"extproc", []string{"extproc/*", "cluster/*", "envoy/contract"}},

		{"xds", []string{"cluster", "cluster/*", "dataplane", "envoy/contract"}},

		{"mgmt/field", []string{"cluster/fault"}},
		{"mgmt/rest", []string{"mgmt/field", "cluster/fault", "dataplane", "proto/gen/gateway/*"}},
		{"mgmt/operation", []string{"mgmt/field", "cluster", "cluster/*", "proto/gen/gateway/*"}},
		{"mgmt/openapi", nil},
		{"mgmt", []string{"mgmt/*", "cluster", "cluster/*", "cluster/prompts/template", "dataplane", "proto/gen/gateway/*"}},

		{"auditsink", []string{"bucket", "datalake", "cluster/*"}},
		{"bucket", []string{"cluster/fault"}},
		{"datalake", []string{"cluster/audit", "cluster/ledger", "cluster/money", "cluster/usage"}},
		{"config/litellm", nil},
		{"config/endpoint", nil},
		{"config", []string{"config/endpoint", "config/litellm", "cluster/*"}},

		{"envoy/bootstrap", []string{"envoy/contract", "cluster/fault", "cluster/id"}},
		{"envoy/socket", nil},
		{"envoy/launch", []string{"envoy/contract", "cluster/fault"}},

		{"bench/cmd/ledger", []string{"bench/**", "cluster", "cluster/*", "proto/gen/cluster/*"}}, // it measures them without what is around
		{"bench/cmd/profiled", []string{"cli"}},
		{"bench/**", []string{"bench/**"}},
		{"examples/upstream", []string{"examples/upstream/fake"}},
		{"examples/upstream/fake", []string{"examples/upstream/fake/*"}},
		{"examples/api-go", []string{"proto/gen/gateway/*"}},
		{"examples/**", nil},
		{"tools/defects", []string{"cluster/inject"}},
		{"tools/nametagger", []string{"extproc/guard/names/tagger"}},
		{"tools/openapi", []string{"dataplane", "proto/gen/options/*", "tools/route"}},
		{"tools/openaischema", []string{"dataplane"}},
		{"tools/routes", []string{"proto/gen/options/*", "tools/route"}},
		{"tools/**", nil},
	}
}

// importOwner says that packages below prefix, ours or not, are imported by
// the owners alone.
type importOwner struct {
	prefix string
	owners []string
}

// importOwners keeps every large dependency behind one package, so that
// replacing or upgrading it stays the work of one folder.
func importOwners() []importOwner {
	return []importOwner{
		{module + "cluster/gossip", []string{"cluster"}},
		{module + "cluster/store", []string{"cluster", "cluster/*", "cluster/record/recordtest", "cluster/tenancy/tenancytest", "bench/cmd/ledger", "cli"}},
		{module + "extproc/frame", []string{"extproc", "extproc/attach", "gateway"}},
		{"google.golang.org/grpc", []string{
			"cluster", "cluster/*", "examples/api-go", "extproc", "extproc/frame", "gateway", "mgmt", "mgmt/operation", "mgmt/rest", "proto/gen/**", "xds",
		}},
		{"github.com/cockroachdb/pebble", []string{"cluster/store", "cluster/store/storetest"}},
		{"github.com/hashicorp/memberlist", []string{"cluster/gossip"}},
		{"github.com/hashicorp/raft", []string{"cluster/consensus"}},
		{"github.com/klauspost/compress", []string{"cluster/block", "datalake"}},
		{"github.com/tink-crypto", []string{"cluster/vault"}},
		{"gocloud.dev/blob", []string{"bucket"}},
		{"github.com/aws/aws-sdk-go-v2/config", []string{"cluster/cloud/awstoken"}},
		{"github.com/aws/aws-sdk-go-v2/credentials", []string{"cluster/cloud/awstoken"}},
		{"github.com/aws/aws-sdk-go-v2/service", []string{"cluster/cloud/awstoken"}},
		{"cloud.google.com/go", []string{"cluster/cloud/googletoken"}},
		{"github.com/Azure", []string{"cluster/cloud/entratoken"}},
		{"gocloud.dev", []string{"cluster/vault/kms", "bucket"}},
		{"github.com/parquet-go", []string{"datalake"}},
		{"github.com/nats-io/nats.go", []string{"auditsink"}},
		{"github.com/twmb/franz-go", []string{"auditsink"}},
		{"github.com/hashicorp/vault", []string{"cluster/vault/kms"}},
		{"google.golang.org/genai", []string{"e2e"}}, // a judge in tests
		{"buf.build", []string{"mgmt/operation", "tools/openapi"}},
		{"github.com/vishvananda", []string{"e2e/clustertest"}},
		{"github.com/santhosh-tekuri/jsonschema", []string{"extproc/openai/openaitest"}},
		{"github.com/grpc-ecosystem/grpc-gateway", []string{"mgmt/rest"}},
		{"github.com/envoyproxy/go-control-plane/pkg", []string{"xds"}},
		{"github.com/envoyproxy/go-control-plane/envoy/service/ext_proc", []string{"extproc"}},
		{"github.com/envoyproxy/go-control-plane", []string{"xds", "extproc", "envoy/bootstrap"}},
	}
}

// TestImports holds every package to the tables above. It reads the files
// itself, rather than asking go list, so that the test cache sees which files
// it depends on.
func TestImports(t *testing.T) {
	seen := map[string]bool{}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && skippedDir(name) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := path.Dir(name)
		seen[pkg] = true
		for _, spec := range f.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if problem := checkImport(pkg, imp); problem != "" {
				t.Errorf("%s: %s", name, problem)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !seen["cluster/fault"] {
		t.Error("the walk did not reach cluster/fault: it proves nothing")
	}
}

// TestImportRules tries the rules themselves: a table that let everything
// through would pass the test above.
func TestImportRules(t *testing.T) {
	for _, tc := range []struct {
		pkg, imp string
		allowed  bool
	}{
		{".", module + "gateway", false},
		{"gateway", module + "extproc", true},
		{"gateway", module + "cluster/store", false},
		{"cli", module + "cluster/store", true},
		{"cli", module + "mgmt", false},
		{"gateway", "github.com/cockroachdb/pebble/v2", false},
		{"cluster", "github.com/hashicorp/raft", false},
		{"cluster/consensus", module + "cluster/tenancy", false},
		{"cluster/consensus", "github.com/hashicorp/raft", true},
		{"cluster/gossip", module + "cluster/consensus", false},
		{"cluster/link", module + "cluster/gossip", false},
		{"mgmt", module + "proto/gen/cluster/v1", false},
		{"mgmt", module + "auditsink", false},
		{"mgmt", module + "mgmt/operation", true},
		{"mgmt/operation", module + "mgmt/rest", false},
		{"mgmt/rest", module + "cluster/tenancy", false},
		{"mgmt/field", module + "cluster/id", false},
		{"cluster/store", "github.com/cockroachdb/pebble/v2/vfs", true},
		{"cluster/journal", "github.com/cockroachdb/pebble/v2", false},
		{"cluster/fault", module + "cluster/id", false},
		{"cluster/prompts", module + "cluster/prompts/template/values", false},
		{"cluster/prompts/template/values", module + "cluster/prompts/template/library", false},
		{"cluster/prompts/template/library", module + "cluster/prompts/template/syntax", false},
		{"cluster/prompts/template/syntax", module + "cluster/prompts/template", false},
		{"cluster/tenancy", module + "cluster/vault", true},
		{"cluster/credential", module + "cluster/tenancy", false},
		{"cluster/tenancy", module + "cluster/catalog", false},
		{"cluster/tenancy", module + "cluster/access", true},
		{"cluster/tenancy", module + "cluster/rights", false},
		{"cluster/tenancy", module + "cluster/listing", false},
		{"cluster/access", module + "cluster/tenancy", false},
		{"cluster/rights", module + "cluster/tenancy", true},
		{"cluster/rights", module + "cluster/store", false},
		{"cluster/listing", module + "cluster/rights", false},
		{"cluster/tenancy", module + "cluster/table", true},
		{"cluster/record", module + "cluster/tenancy", false},
		{"cluster/tenancy", module + "extproc/wire", false},
		{"extproc/provider", module + "extproc/openai", true},
		{"extproc/provider", module + "extproc", false},
		{"extproc/openai", module + "extproc/anthropic", false},
		{"extproc/driver", module + "extproc/openai", false},
		{"extproc/dialect", module + "extproc/driver", false},
		{"extproc/strategy", module + "cluster/catalog", true},
		{"extproc/wire", module + "cluster/catalog", false},
		{"extproc", module + "mgmt", false},
		{"extproc/pipeline", module + "extproc", false},
		{"extproc/pipeline", module + "extproc/frame", false},
		{"extproc/pipeline", "google.golang.org/grpc/codes", false},
		{"extproc/pipeline", module + "extproc/splice", true},
		{"xds", module + "extproc/wire", false},
		{"xds", module + "dataplane", true},
		{"dataplane", module + "cluster/id", false},
		{"xds", "github.com/envoyproxy/go-control-plane/pkg/cache/v3", true},
		{"extproc", "github.com/envoyproxy/go-control-plane/pkg/cache/v3", false},
		{"extproc", "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3", true},
		{"xds", "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3", false},
		{"mgmt", "github.com/envoyproxy/go-control-plane/envoy/config/core/v3", false},
		{"config", module + "cluster/catalog", true},
		{"config", module + "extproc/provider", false},
		{"examples/upstream", module + "examples/upstream/fake", true},
		{"examples/upstream/fake", module + "cluster/fault", false},
		{"bench/cmd/loadgen", module + "bench/internal/openai", true},
		{"bench/cmd/loadgen", module + "cluster/usage", false},
		{"newcomer", module + "cluster/id", false},
		{"newcomer", "net/http", true},
	} {
		if got := checkImport(tc.pkg, tc.imp) == ""; got != tc.allowed {
			t.Errorf("%s imports %s: allowed %v, want %v (%s)", tc.pkg, tc.imp, got, tc.allowed, checkImport(tc.pkg, tc.imp))
		}
	}
}

// skippedDir says which folders hold no package with a place in the table:
// generated code, which imports what its generators import, test data, and
// what make and the editors leave behind.
func skippedDir(name string) bool {
	base := path.Base(name)
	return name == "proto/gen" || name == "bin" || base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")
}

// checkImport returns what is wrong with pkg importing imp, or "".
func checkImport(pkg, imp string) string {
	for _, o := range importOwners() {
		if hasPathPrefix(imp, o.prefix) {
			if !matchImport(o.owners, pkg) {
				return "only " + strings.Join(o.owners, ", ") + " may import " + imp
			}
			break // the first, narrowest prefix decides
		}
	}
	rel, ours := strings.CutPrefix(imp, module)
	if !ours {
		return ""
	}
	for _, row := range importRows() {
		if matchImport([]string{row.pkg}, pkg) {
			if !matchImport(row.may, rel) {
				return pkg + " may not import " + rel
			}
			return ""
		}
	}
	return "package " + pkg + " has no row in the table of allowed imports"
}

// hasPathPrefix is strings.HasPrefix by whole path elements.
func hasPathPrefix(name, prefix string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	return ok && (rest == "" || rest[0] == '/')
}

// matchImport says whether one of the patterns fits name: path.Match patterns,
// and "dir/**" for everything at or below dir, "**" for everything.
func matchImport(patterns []string, name string) bool {
	for _, p := range patterns {
		if p == "**" {
			return true
		}
		if dir, ok := strings.CutSuffix(p, "/**"); ok && hasPathPrefix(name, dir) {
			return true
		}
		if ok, err := path.Match(p, name); ok && err == nil {
			return true
		}
	}
	return false
}
