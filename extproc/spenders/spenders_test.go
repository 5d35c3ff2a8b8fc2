package spenders_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/extproc/spenders"
)

func rows(t *spenders.Table) map[string]spenders.Sums {
	out := map[string]spenders.Sums{}
	for _, r := range t.Rows() {
		out[r.Name.Text] = r.Sums
	}
	return out
}

func spend(t *spenders.Table, name string, cost float64) {
	t.Add(spenders.Name{Text: name}, spenders.Sums{Cost: cost, Input: 1}, spenders.Budget{})
}

// A larger spender gets the row of a smaller one. Its earlier use and that of the
// smaller one stay in the common sums, which never fall.
func TestLargestSpendersHaveRows(t *testing.T) {
	t.Parallel()
	table := spenders.New(2)
	spend(table, "", 100)
	spend(table, "a", 5)
	spend(table, "b", 1)
	spend(table, "c", 2)
	spend(table, spenders.Other, 7)
	want := map[string]spenders.Sums{"a": {Cost: 5, Input: 1}, "c": {}, "other": {Cost: 2 + 7 + 1, Input: 3}}
	if diff := cmp.Diff(want, rows(table)); diff != "" {
		t.Errorf("after c (-want +got):\n%s", diff)
	}
	spend(table, "c", 1)
	spend(table, "b", 1)
	want = map[string]spenders.Sums{"a": {Cost: 5, Input: 1}, "c": {Cost: 1, Input: 1}, "other": {Cost: 11, Input: 4}}
	if diff := cmp.Diff(want, rows(table)); diff != "" {
		t.Errorf("b is still smaller (-want +got):\n%s", diff)
	}
	spend(table, "b", 10)
	want = map[string]spenders.Sums{"a": {Cost: 5, Input: 1}, "b": {}, "other": {Cost: 22, Input: 6}}
	if diff := cmp.Diff(want, rows(table)); diff != "" {
		t.Errorf("b has overtaken c (-want +got):\n%s", diff)
	}
}

// With many more names than rows the number of rows is bounded, nothing is lost, and
// the names that spend far more than the rest have rows.
func TestManySpenders(t *testing.T) {
	t.Parallel()
	const most, names = 50, 5_000
	table := spenders.New(most)
	random := rand.New(rand.NewPCG(1, 2))
	requests := 0.0
	common := 0.0
	for range 20 {
		for range names {
			spend(table, fmt.Sprint("small-", random.IntN(names)), 1)
			spend(table, fmt.Sprint("large-", random.IntN(most/5)), 1)
			requests += 2
		}
		got := rows(table)
		sum := 0.0
		for _, s := range got {
			sum += s.Cost
		}
		if sum != requests || len(got) != most+1 || got["other"].Cost < common {
			t.Fatalf("%d rows with %g of %g requests, %g of them together after %g", len(got), sum, requests, got["other"].Cost, common)
		}
		common = got["other"].Cost
	}
	got := rows(table)
	for i := range most / 5 {
		if _, ok := got[fmt.Sprint("large-", i)]; !ok {
			t.Errorf("large-%d has no row: %v", i, slices.Sorted(maps.Keys(got)))
		}
	}
}

// Spenders of two places have rows of their own, even with one text.
func TestOneTextInTwoPlaces(t *testing.T) {
	t.Parallel()
	table := spenders.New(3)
	want := map[spenders.Name]float64{
		{Text: "ci", Team: "red"}: 1, {Text: "ci", Team: "blue"}: 2, {Text: "ci", Organization: "acme", User: "ann"}: 4,
	}
	for range 2 {
		for name, cost := range want {
			table.Add(name, spenders.Sums{Cost: cost / 2}, spenders.Budget{})
		}
	}
	got := map[spenders.Name]float64{}
	for _, r := range table.Rows() {
		got[r.Name] = r.Sums.Cost
	}
	if !maps.Equal(got, want) {
		t.Errorf("the rows are %v, want %v", got, want)
	}
}

// The latest request says which budget holds.
func TestBudgetOfLatestRequest(t *testing.T) {
	t.Parallel()
	table := spenders.New(1)
	budget := spenders.Budget{Account: id.Account{Kind: id.AccountTeam, Owner: "red"}, Max: 5}
	table.Add(spenders.Name{Text: "red"}, spenders.Sums{Cost: 1}, budget)
	if r := table.Rows(); len(r) != 1 || r[0].Budget != budget {
		t.Errorf("with a budget: %+v", r)
	}
	table.Add(spenders.Name{Text: "red"}, spenders.Sums{Cost: 1}, spenders.Budget{})
	if r := table.Rows(); r[0].Budget != (spenders.Budget{}) {
		t.Errorf("the budget was removed: %+v", r)
	}
}
