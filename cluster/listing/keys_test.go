package listing_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/listing"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
)

// TestKeyListLaw: a list has, in order, the keys that a plain look at all of them
// finds, and its pages together are the list.
func TestKeyListLaw(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := tenancytest.NewOffice(t)
		o.AddOwners()
		for i := range rapid.IntRange(0, 12).Draw(t, "keys") {
			k := tenancytest.Called(fmt.Sprint("k", i), func(k *tenancy.Key) {
				k.Alias = rapid.SampledFrom([]string{"", fmt.Sprintf("Alias-%d", 20-i)}).Draw(t, "alias")
				k.Team = rapid.SampledFrom([]id.Team{"", "research", "free"}).Draw(t, "team")
				k.Blocked = rapid.Bool().Draw(t, "blocked")
				if k.Team == "" {
					k.User = rapid.SampledFrom([]id.User{"", "ada", "bob"}).Draw(t, "user")
					k.Organization = rapid.SampledFrom([]id.Organization{"", "acme", "zeta"}).Draw(t, "organization")
				}
				if n := rapid.IntRange(0, 3).Draw(t, "hours"); n > 0 {
					k.Expires = tenancytest.Now().Add(time.Duration(n-2) * time.Hour)
				}
			})
			o.Must(tenancytest.CreateKey(k))
		}
		q := listing.KeyQuery{
			Search: rapid.SampledFrom([]string{"", "", "alias-1", "S-2"}).Draw(t, "search"), Named: rapid.Bool().Draw(t, "named"),
			User: rapid.SampledFrom([]id.User{"", "", "ada"}).Draw(t, "user"), Team: rapid.SampledFrom([]id.Team{"", "", "research"}).Draw(t, "team"),
			Organization: rapid.SampledFrom([]id.Organization{"", "", "acme"}).Draw(t, "organization"),
			Status:       rapid.SampledFrom([]string{"", "", "active", "blocked", "expired", "rotated"}).Draw(t, "status"), Now: tenancytest.Now(),
			Sort:       rapid.SampledFrom([]string{"", listing.KeysByAge, listing.KeysByAlias, listing.KeysByExpires}).Draw(t, "sort"),
			Descending: rapid.Bool().Draw(t, "descending"), Limit: 1000,
		}
		switch rapid.IntRange(0, 5).Draw(t, "one") {
		case 0:
			q.Hash = tenancytest.HashOf("k1")
		case 1:
			q.Alias = "Alias-18"
		}
		if rapid.Bool().Draw(t, "near") {
			q.Near = "ada"
			q.May = func(k *tenancy.Key) bool { return k.User == "ada" || k.Team == "research" && k.Alias != "" }
		}
		got, total := listing.Keys(o.Set, q)
		want := plainList(o, q)
		if total != len(want) || !slices.EqualFunc(got, want, func(a, b *tenancy.Key) bool { return rankOf(q, a) == rankOf(q, b) }) || !sameKeys(got, want) {
			t.Fatalf("%+v\nhas   %v\nwants %v", q, names(got), names(want))
		}
		q.Limit = rapid.IntRange(1, 5).Draw(t, "page")
		var pages []*tenancy.Key
		for ; q.Offset < total+q.Limit; q.Offset += q.Limit {
			page, n := listing.Keys(o.Set, q)
			if n != total || len(page) > q.Limit {
				t.Fatalf("a page of %d, and %d in all", len(page), n)
			}
			pages = append(pages, page...)
		}
		if !slices.Equal(pages, got) {
			t.Fatalf("the pages have %v, the list %v", names(pages), names(got))
		}
	})
}

// plainList is a list as who reads all keys makes it.
func plainList(o *tenancytest.Office, q listing.KeyQuery) []*tenancy.Key {
	all := slices.Collect(o.Set.KeysByAge().From(0))
	var out []*tenancy.Key
	for _, k := range all {
		if (q.Hash == id.KeyHash{} || q.Hash == k.Hash) && (q.Alias == "" || q.Alias == k.Alias) && (!q.Named || k.Alias != "") &&
			strings.Contains(strings.ToLower(k.Alias), strings.ToLower(q.Search)) && (q.User == "" || q.User == k.User) &&
			(q.Team == "" || q.Team == k.Team) && (q.Organization == "" || q.Organization == k.Organization) &&
			(q.Status == "" || q.Status == k.Status(tenancytest.Now())) && (q.May == nil || q.May(k)) {
			out = append(out, k)
		}
	}
	slices.SortStableFunc(out, func(a, b *tenancy.Key) int {
		n := cmp.Compare(rankOf(q, a), rankOf(q, b))
		if q.Descending {
			return -n
		}
		return n
	})
	return out
}

// rankOf is what a list goes by.
func rankOf(q listing.KeyQuery, k *tenancy.Key) string {
	switch {
	case q.Sort == listing.KeysByAlias && k.Alias == "", q.Sort == listing.KeysByExpires && k.Expires.IsZero():
		return "~"
	case q.Sort == listing.KeysByAlias:
		return k.Alias
	case q.Sort == listing.KeysByExpires:
		return k.Expires.Format(time.RFC3339Nano)
	}
	return k.CreatedAt.Format(time.RFC3339Nano)
}

func names(list []*tenancy.Key) []string {
	var out []string
	for _, k := range list {
		out = append(out, k.Name)
	}
	return out
}

func sameKeys(a, b []*tenancy.Key) bool {
	x, y := names(a), names(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// TestManyKeysAreListed: the queries that have to look at all of many keys find what
// they should.
func TestManyKeysAreListed(t *testing.T) {
	t.Parallel()
	const n = 20_000
	s := tenancytest.ManyKeys(t, n)
	for name, q := range manyQueries() {
		page, total := listing.Keys(s, q)
		want := map[string]int{"blocked": n / 10, "search": 100}[name]
		if want == 0 {
			want = n
		}
		if total != want || len(page) != 10 {
			t.Errorf("%s: %d keys of %d, want 10 of %d", name, len(page), total, want)
		}
		all := q
		all.Offset, all.Limit = 0, n
		if list, _ := listing.Keys(s, all); !slices.Equal(page, list[q.Offset:q.Offset+10]) {
			t.Errorf("%s: the page is not where it is in the whole list", name)
		}
	}
}

func manyQueries() map[string]listing.KeyQuery {
	all := map[string]listing.KeyQuery{
		"newest":  {Descending: true},
		"deep":    {Descending: true, Offset: 10_000},
		"oldest":  {},
		"blocked": {Status: tenancy.StatusBlocked, Descending: true},
		"search":  {Search: "KEY 0123"},
		"alias":   {Sort: listing.KeysByAlias},
		"expires": {Sort: listing.KeysByExpires, Offset: 300},
		"endless": {Sort: listing.KeysByExpires, Descending: true},
		"reverse": {Sort: listing.KeysByAlias, Descending: true},
		"named":   {Sort: listing.KeysByAlias, Named: true},
	}
	for name, q := range all {
		q.Limit, q.Now = 10, tenancytest.Now()
		all[name] = q
	}
	return all
}

func BenchmarkKeyList100k(b *testing.B) {
	s := tenancytest.ManyKeys(b, 100_000)
	for name, q := range manyQueries() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if page, _ := listing.Keys(s, q); len(page) != 10 {
					b.Fatal(len(page))
				}
			}
		})
	}
}
