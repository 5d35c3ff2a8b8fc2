package provider_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/price"
	"github.com/modelgateway/modelgateway/extproc/provider"
)

// TestPricesAreFoundByTheModelsName looks up each model of the price table as its provider's deployments name it.
func TestPricesAreFoundByTheModelsName(t *testing.T) {
	table, err := os.ReadFile("../../cluster/price/prices.csv")
	if err != nil {
		t.Fatal(err)
	}
	list := price.NewList()
	if err := list.Load(); err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for line := range strings.Lines(string(table)) {
		cells := strings.Split(strings.TrimSpace(line), ",")
		p, ok := byName(cells[0])
		if !ok || cells[5] == "" {
			continue
		}
		model := strings.TrimPrefix(cells[1], p.Name+"/")
		if row := price.Lookup(list.Find, price.Source{Provider: p.Name, Model: model}); strings.TrimPrefix(row.Model, p.Name+"/") != model {
			t.Errorf("%s %s has the prices of %q", p.Name, model, row.Model)
		}
		found[p.Name]++
	}
	for of, model := range map[string]string{"cohere": "command-r-plus-08-2024", "cohere_chat": "rerank-v3.5", "mistral": "mistral-large-latest"} {
		if price.Lookup(list.Find, price.Source{Provider: of, Model: model}).Prices == "" {
			t.Errorf("%s/%s has no price", of, model)
		}
	}
	without := []string{"github", "hosted_vllm", "huggingface", "lm_studio", "openai_compatible", "openrouter"}
	for _, p := range provider.Providers() {
		if has := found[p.Name] > 0; has == slices.Contains(without, p.Name) {
			t.Errorf("%s has %d models with a price", p.Name, found[p.Name])
		}
	}
}
