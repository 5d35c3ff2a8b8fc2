package provider_test

import (
	"os"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// TestModelsWithResponsesAlone compares the models of OpenAI that get their chats as responses with
// those that the price table marks so.
func TestModelsWithResponsesAlone(t *testing.T) {
	table, err := os.ReadFile("../../cluster/price/prices.csv")
	if err != nil {
		t.Fatal(err)
	}
	p, _ := byName("openai")
	found := 0
	for line := range strings.Lines(string(table)) {
		cells := strings.Split(line, ",")
		if cells[0] != "openai" || cells[2] != "responses" && cells[2] != "chat" || strings.Contains(cells[1], "/") {
			continue
		}
		want := wire.OpenAI
		if cells[2] == "responses" {
			want = wire.Responses
			found++
		}
		if got, _ := p.Driver.Serves(driver.Target{Features: p.Features(cells[1])}, driver.Chat); got != want {
			t.Errorf("chats of %s are %s, want %s", cells[1], got, want)
		}
	}
	if found == 0 {
		t.Error("the table marks no model")
	}
}
