package ledger

import (
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// TestRowReader compares the row decoder with the message, with fields of a later version, and
// with damaged rows.
func TestRowReader(t *testing.T) {
	t.Parallel()
	var rows rowReader
	rapid.Check(t, func(t *rapid.T) {
		text, number := rapid.String(), rapid.Int64()
		m := &clusterv1.DailyRow{
			KeyHash: rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "hash"), KeyAlias: text.Draw(t, "alias"), Team: text.Draw(t, "team"),
			Group: text.Draw(t, "group"), Model: text.Draw(t, "model"), Provider: text.Draw(t, "provider"), CallType: text.Draw(t, "call type"),
		}
		if rapid.Bool().Draw(t, "counts") {
			m.Counts = &clusterv1.Counts{
				SpendPico: number.Draw(t, "low"), SpendHigh: number.Draw(t, "high"), PromptTokens: number.Draw(t, "prompt"), CompletionTokens: number.Draw(t, "completion"),
				CacheReadTokens: number.Draw(t, "read"), CacheWriteTokens: number.Draw(t, "write"), SuccessfulRequests: number.Draw(t, "ok"),
				FailedRequests: number.Draw(t, "failed"), Attempts: number.Draw(t, "attempts"), DurationMillis: rapid.Int64Range(0, 1<<40).Draw(t, "duration"),
			}
		}
		value, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		owner := rapid.StringMatching(`[a-z]{0,5}`).Draw(t, "owner")
		part := rapid.StringMatching(`[a-z]{0,5}`).Draw(t, "organization")
		key := append(appendDaily(nil, id.Account{Kind: id.AccountTeam, Owner: owner, Part: part}, "20261122"), make([]byte, digestSize)...)
		more := append(slices.Clip(value), 0xa0, 0x06, 0x01, 0xaa, 0x06, 0x01, 'x') // fields 100 and 101
		got, err := rows.read(key, more)
		if err != nil {
			t.Fatal(err)
		}
		c := m.GetCounts()
		want := DailyRow{
			Kind: id.AccountTeam, Owner: owner, Organization: id.Organization(part), Day: "2026-11-22", Key: id.KeyHash(m.GetKeyHash()), KeyAlias: m.GetKeyAlias(), Team: id.Team(m.GetTeam()),
			Group: id.ModelName(m.GetGroup()), Model: m.GetModel(), Provider: m.GetProvider(), CallType: m.GetCallType(),
			Counts: Counts{
				Spend: money.Total{High: c.GetSpendHigh(), Low: money.Pico(c.GetSpendPico())}, PromptTokens: c.GetPromptTokens(), CompletionTokens: c.GetCompletionTokens(),
				CacheReadTokens: c.GetCacheReadTokens(), CacheWriteTokens: c.GetCacheWriteTokens(), Successful: c.GetSuccessfulRequests(),
				Failed: c.GetFailedRequests(), Attempts: c.GetAttempts(), Duration: time.Duration(c.GetDurationMillis()) * time.Millisecond,
			},
		}
		if got != want {
			t.Fatalf("%+v, want %+v", got, want)
		}
		if _, err := rows.read(key, append(more, 0xff)); err == nil {
			t.Fatal("a damaged row is accepted")
		}
		if _, err := rows.read(key[:digestSize], value); err == nil {
			t.Fatal("a row with a damaged key is accepted")
		}
	})
}
