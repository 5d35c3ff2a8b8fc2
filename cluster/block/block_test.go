package block_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/block"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// tb is a test, of rapid or not.
type tb interface {
	rapid.TB
	Cleanup(fn func())
	Context() context.Context
}

func open(t tb) *store.Store {
	s, err := store.Open(store.Config{Kind: store.StateStore, Dir: "state", FS: vfs.NewMem(), MinFreeBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// change commits a change.
func change(t tb, s *store.Store, fn func(tx *store.Tx) error) {
	tx := s.NewTx()
	defer tx.Close()
	if err := fn(tx); err != nil {
		t.Fatal(err)
	}
	if err := tx.CommitReplayable(); err != nil {
		t.Fatal(err)
	}
}

func log() block.Log { return block.Log{Space: store.SpaceUsageLog, Prefix: "w\x00", Unique: "r"} }

// record is a record of the model.
type record struct {
	number uint64
	time   int64
	color  byte // a value that many records share
	owner  byte
	value  []byte
}

func (x record) request() string { return fmt.Sprintf("request %d", x.number/2) }

func (x record) entry() block.Entry {
	return block.Entry{Number: x.number, Time: x.time, Value: x.value, Terms: []block.Term{
		block.NewTerm('c', []byte{x.color}), block.NewTerm('o', []byte{x.owner}), block.NewTerm('r', x.request()),
	}}
}

func drawRecords(t *rapid.T, from uint64, most int) []record {
	n := rapid.IntRange(1, most).Draw(t, "records")
	late := rapid.SliceOfN(rapid.Int64Range(0, 50), 1, 8).Draw(t, "late")
	long := rapid.Bool().Draw(t, "long")
	out := make([]record, n)
	for i := range out {
		number := from + uint64(i)
		value := binary.AppendUvarint(nil, number)
		if long && i%97 == 0 {
			value = append(value, bytes.Repeat([]byte{byte(i)}, 40<<10)...)
		}
		out[i] = record{number, 6000 + int64(number)*10 - 100*late[i%len(late)], byte(number % 7 % 5), byte(number / 300), value}
	}
	return out
}

func entries(records []record) []block.Entry {
	out := make([]block.Entry, len(records))
	for i, x := range records {
		out[i] = x.entry()
	}
	return out
}

func read(t tb, s *store.Store, q block.Query, most int) []uint64 {
	var out []uint64
	err := log().Query(t.Context(), reader(s), q, func(x block.Record) bool {
		out = append(out, x.Number)
		return len(out) != most
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLogEqualsTheModel appends, imports, seals and drops at random, and compares all reads with a plain list.
func TestLogEqualsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := open(t)
		var model []record
		next := uint64(1)
		if rapid.Bool().Draw(t, "older") {
			older := drawRecords(t, 1, 600)
			next = uint64(len(older)) + 1 + rapid.Uint64Range(0, 3000).Draw(t, "gap")
			peak := slices.MaxFunc(older, func(a, b record) int { return int(a.time - b.time) }).time
			change(t, s, func(tx *store.Tx) error { return log().Begin(tx, next, peak) })
			model = older
			for from := 0; from < len(older); from += 200 {
				change(t, s, func(tx *store.Tx) error {
					return log().Import(tx, entries(older[from:min(from+200, len(older))]))
				})
			}
		}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			if rapid.IntRange(0, 4).Draw(t, "drop") > 0 {
				added := drawRecords(t, next, 600)
				change(t, s, func(tx *store.Tx) error { return log().Append(tx, entries(added)) })
				model, next = append(model, added...), next+uint64(len(added))
				continue
			}
			if rapid.Bool().Draw(t, "seal") {
				before := rapid.Int64Range(0, 36000).Draw(t, "cold")
				seal(t, s, block.Due{Before: before, Late: before - rapid.Int64Range(0, 2000).Draw(t, "late"), Multiple: 256 << rapid.IntRange(0, 2).Draw(t, "multiple")})
				continue
			}
			before := rapid.Uint64Range(0, next).Draw(t, "before")
			var dropped uint64
			change(t, s, func(tx *store.Tx) (err error) { dropped, err = log().Drop(tx, before); return err })
			had := len(model)
			model = remaining(t, s, model, before)
			if uint64(had-len(model)) != dropped {
				t.Fatalf("%d are said to be dropped, and %d were", dropped, had-len(model))
			}
		}
		compareRanges(t, s, model)
		for range 6 {
			compareQuery(t, s, model)
		}
		check(t, s, model)
	})
}

// remaining drops from the model what the log has dropped: all before a number, but for the rest of one block.
func remaining(t *rapid.T, s *store.Store, model []record, before uint64) []record {
	var first uint64 = math.MaxUint64
	if err := log().Range(t.Context(), reader(s), 0, block.All, func(x block.Record) bool {
		first = x.Number
		return false
	}); err != nil {
		t.Fatal(err)
	}
	kept := 0
	out := slices.DeleteFunc(slices.Clone(model), func(x record) bool {
		if x.number >= first && x.number < before {
			kept++
		}
		return x.number < first
	})
	if g, ok, err := log().SegmentAt(t.Context(), s, first); err != nil {
		t.Fatal(err)
	} else if kept >= block.Size && !ok || ok && g.Last < before {
		t.Fatalf("%d records before %d were not dropped", kept, before)
	}
	if len(out) > 0 && len(model) > 0 && model[len(model)-1].number >= before && out[len(out)-1].number != model[len(model)-1].number {
		t.Fatal("a record that stays was dropped")
	}
	return out
}

func compareRanges(t *rapid.T, s *store.Store, model []record) {
	from, to := uint64(0), uint64(block.All)
	if rapid.Bool().Draw(t, "part") && len(model) > 0 {
		from = model[rapid.IntRange(0, len(model)-1).Draw(t, "from")].number
		to = from + rapid.Uint64Range(0, 700).Draw(t, "more")
	}
	i := slices.IndexFunc(model, func(x record) bool { return x.number >= from })
	err := log().Range(t.Context(), reader(s), from, to, func(x block.Record) bool {
		if want := model[i]; x.Number != want.number || x.Time != want.time || !bytes.Equal(x.Value, want.value) {
			t.Fatalf("record %d at %d with %d bytes, want %d at %d with %d", x.Number, x.Time, len(x.Value), want.number, want.time, len(want.value))
		}
		i++
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if i >= 0 && i < len(model) && model[i].number <= to {
		t.Fatalf("the record %d is missing", model[i].number)
	}
}

func compareQuery(t *rapid.T, s *store.Store, model []record) {
	q := block.Query{Reverse: rapid.Bool().Draw(t, "reverse")}
	want := slices.Clone(model)
	keep := func(fn func(record) bool) {
		want = slices.DeleteFunc(want, func(x record) bool { return !fn(x) })
	}
	matches := func(record) bool { return true }
	switch rapid.IntRange(0, 4).Draw(t, "by") {
	case 1:
		q.Terms = []block.Term{block.NewTerm('c', []byte{2})}
		matches = func(x record) bool { return x.color == 2 }
	case 2:
		q.Terms = []block.Term{block.NewTerm('c', []byte{1}), block.NewTerm('o', []byte{1})}
		matches = func(x record) bool { return x.color == 1 && x.owner == 1 }
	case 3:
		if len(model) > 0 {
			request := model[len(model)/2].request()
			q.Terms = []block.Term{block.NewTerm('r', request)}
			matches = func(x record) bool { return x.request() == request }
		}
	case 4:
		if len(model) > 0 {
			of := model[len(model)/3]
			q.Terms = []block.Term{block.NewTerm('r', of.request()), block.NewTerm('o', []byte{of.owner})}
			matches = func(x record) bool { return x.request() == of.request() && x.owner == of.owner }
		}
	}
	keep(matches)
	if rapid.Bool().Draw(t, "from") {
		q.From = rapid.Int64Range(0, 36000).Draw(t, "low")
		keep(func(x record) bool { return x.time >= q.From })
	}
	if rapid.Bool().Draw(t, "to") {
		q.To = rapid.Int64Range(1, 36000).Draw(t, "high")
		keep(func(x record) bool { return x.time < q.To })
	}
	compare := func(a, b record) int {
		if a.time != b.time {
			return int(a.time - b.time)
		}
		return int(a.number) - int(b.number)
	}
	slices.SortFunc(want, compare)
	if q.Reverse {
		slices.Reverse(want)
	}
	if len(want) > 2 && rapid.Bool().Draw(t, "page") {
		i := rapid.IntRange(0, len(want)-2).Draw(t, "after")
		j := rapid.IntRange(i+1, len(want)-1).Draw(t, "end")
		q.After = &block.Position{Time: want[i].time, Number: want[i].number}
		q.Before = &block.Position{Time: want[j].time, Number: want[j].number}
		want = want[i+1 : j]
	}
	byNumber := map[uint64]record{}
	for _, x := range model {
		byNumber[x.number] = x
	}
	got := slices.DeleteFunc(read(t, s, q, 0), func(n uint64) bool { return !matches(byNumber[n]) })
	if !slices.EqualFunc(got, want, func(n uint64, x record) bool { return n == x.number }) {
		t.Fatalf("%+v: got %d records %v, want %d", q, len(got), head(got), len(want))
	}
}

func head(numbers []uint64) []uint64 { return numbers[:min(len(numbers), 20)] }

// check has the index of a log checked against the model.
func check(t tb, s *store.Store, model []record) {
	if at, problem := checked(t, s, model); problem != "" {
		t.Fatalf("the index is said to be wrong at %d: %s", at, problem)
	}
}

func checked(t tb, s *store.Store, model []record) (at uint64, problem string) {
	c, err := log().NewCheck(t.Context(), reader(s))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range model {
		at, problem, err := c.Add(x.number, x.time, x.entry().Terms)
		if err != nil {
			t.Fatal(err)
		}
		if problem != "" {
			return at, problem
		}
	}
	at, problem, err = c.End()
	if err != nil {
		t.Fatal(err)
	}
	return at, problem
}

// TestLateRecordsAreFound reads records whose times are far behind those of records before them: they fill
// whole blocks, and queries look past these for the later times.
func TestLateRecordsAreFound(t *testing.T) {
	s := open(t)
	var model []record
	var due []uint64 // the records of which the time is high
	for n := uint64(1); n <= 6*block.Size; n++ {
		at := int64(1000 + n)
		if n%(3*block.Size) == 100 {
			at += 1 << 20
			due = append(due, n)
		}
		model = append(model, record{n, at, byte(n % 3), byte(n / 300), []byte("x")})
	}
	change(t, s, func(tx *store.Tx) error { return log().Append(tx, entries(model)) })
	if got := read(t, s, block.Query{From: 1 << 20}, 0); !slices.Equal(got, due) {
		t.Errorf("forward: got %v, want %v", got, due)
	}
	slices.Reverse(due)
	if got := read(t, s, block.Query{From: 1 << 20, Reverse: true}, 0); !slices.Equal(got, due) {
		t.Errorf("backward: got %v, want %v", got, due)
	}
	if got := read(t, s, block.Query{Reverse: true}, 3); !slices.Equal(got, append(slices.Clone(due), 6*block.Size)) {
		t.Errorf("the latest three: got %v", got)
	}
	check(t, s, model)
}

// TestTrim deletes what is older than a time: all blocks without a later record, but not many behind others.
func TestTrim(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := open(t)
		model := drawRecords(t, 1, 1500)
		change(t, s, func(tx *store.Tx) error { return log().Append(tx, entries(model)) })
		before := rapid.Int64Range(0, 22000).Draw(t, "before")
		most := rapid.IntRange(0, 2000).Draw(t, "most")
		dropped := 0
		change(t, s, func(tx *store.Tx) (err error) { dropped, err = log().Trim(tx, before, most); return err })
		left := map[uint64]bool{}
		for _, n := range read(t, s, block.Query{}, 0) {
			left[n] = true
		}
		late := 0
		for _, x := range model {
			switch {
			case left[x.number] && x.time < before:
				late++
			case !left[x.number] && x.time >= before:
				t.Fatalf("the record %d of %d was dropped, which is not before %d", x.number, x.time, before)
			}
		}
		if dropped != len(model)-len(left) || dropped >= most+block.Size || dropped < most && late > len(left) {
			t.Fatalf("%d were dropped of %d, at most %d; %d are left", dropped, len(model), most, len(left))
		}
		model = slices.DeleteFunc(model, func(x record) bool { return !left[x.number] })
		check(t, s, model)
		next, _, err := log().End(s)
		if err != nil {
			t.Fatal(err)
		}
		more := drawRecords(t, next+1, 600)
		change(t, s, func(tx *store.Tx) error { return log().Append(tx, entries(more)) })
		check(t, s, append(model, more...))
	})
}

// TestBytesDoNotDependOnCalls appends the same records in one call and in many.
func TestBytesDoNotDependOnCalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := drawRecords(t, rapid.Uint64Range(1, 1000).Draw(t, "first"), 1200)
		one, many := open(t), open(t)
		change(t, one, func(tx *store.Tx) error { return log().Append(tx, entries(records)) })
		for rest := records; len(rest) > 0; {
			n := rapid.IntRange(1, min(len(rest), 300)).Draw(t, "call")
			change(t, many, func(tx *store.Tx) error { return log().Append(tx, entries(rest[:n])) })
			rest = rest[n:]
		}
		a, b := dump(t, one), dump(t, many)
		if !slices.Equal(a, b) {
			t.Fatalf("%d keys and values, or %d", len(a), len(b))
		}
	})
}

func dump(t tb, s *store.Store) (out []string) {
	err := s.Scan(t.Context(), store.Range{Space: log().Space}, func(key, value []byte) bool {
		out = append(out, fmt.Sprintf("%q %x", key, value))
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDamageIsFound changes each stored key and value in turn: no read returns other records, and the check
// names what hides them.
func TestDamageIsFound(t *testing.T) {
	s := open(t)
	var records []record
	for n := uint64(1); n <= 2*block.Size+30; n++ {
		records = append(records, record{n, int64(n) * 10, byte(n % 3), byte(n / 300), []byte(fmt.Sprint("value of ", n))})
	}
	change(t, s, func(tx *store.Tx) error { return log().Append(tx, entries(records)) })
	check(t, s, records)
	type pair struct{ key, value []byte }
	var all []pair
	if err := s.Scan(t.Context(), store.Range{Space: log().Space, Prefix: []byte("w\x00")}, func(key, value []byte) bool {
		all = append(all, pair{bytes.Clone(key), bytes.Clone(value)})
		return true
	}); err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		kind := p.key[2]
		for _, damage := range []func(tx *store.Tx){
			func(tx *store.Tx) { tx.Delete(log().Space, p.key) },
			func(tx *store.Tx) {
				changed := append(bytes.Clone(p.value), 1)
				if len(p.value) > 0 {
					changed = bytes.Clone(p.value)
					changed[len(changed)/2] ^= 4
				}
				tx.Set(log().Space, p.key, changed)
			},
		} {
			if kind == 'p' && len(p.value) == 0 {
				damage = func(tx *store.Tx) { tx.Delete(log().Space, p.key) }
			}
			change(t, s, func(tx *store.Tx) error { damage(tx); return nil })
			if !seen(t, s, records) {
				t.Errorf("damage of the key %q was not found", p.key)
			}
			change(t, s, func(tx *store.Tx) error { tx.Set(log().Space, p.key, p.value); return nil })
		}
	}
	check(t, s, records)
}

// seen reports whether a read of everything fails, or the check finds a problem.
func seen(t *testing.T, s *store.Store, records []record) bool {
	t.Helper()
	i := 0
	err := log().Range(t.Context(), reader(s), 0, block.All, func(x block.Record) bool {
		if x.Number == records[i].number && (x.Time != records[i].time || !bytes.Equal(x.Value, records[i].value)) {
			t.Fatalf("record %d is read as another one", x.Number)
		}
		i++
		return i < len(records)
	})
	if err != nil || i < len(records) {
		return true
	}
	c, err := log().NewCheck(t.Context(), reader(s))
	if err != nil {
		return true
	}
	for _, x := range records {
		if _, problem, err := c.Add(x.number, x.time, x.entry().Terms); err != nil || problem != "" {
			return true
		}
	}
	_, problem, err := c.End()
	return err != nil || problem != ""
}

// TestReadsFew reads the latest page of a long log: only the last blocks.
func TestReadsFew(t *testing.T) {
	s := open(t)
	const n = 200 * block.Size
	for from := uint64(1); from < n; from += 1000 {
		var some []record
		for i := range uint64(1000) {
			some = append(some, record{from + i, int64(from+i) * 10, byte(i % 3), byte(from / 1000), []byte("x")})
		}
		change(t, s, func(tx *store.Tx) error { return log().Append(tx, entries(some)) })
	}
	for name, q := range map[string]block.Query{
		"latest":     {Reverse: true},
		"by value":   {Reverse: true, Terms: []block.Term{block.NewTerm('o', []byte{20})}},
		"by request": {Reverse: true, Terms: []block.Term{block.NewTerm('r', "request 9000")}},
		"earliest":   {},
	} {
		r := &counter{Store: s}
		if err := log().Query(t.Context(), r, q, func(x block.Record) bool { r.records++; return r.records < 100 }); err != nil {
			t.Fatal(err)
		}
		if r.blocks > 4 || r.records < 2 {
			t.Errorf("%s: %d blocks were read for %d records", name, r.blocks, r.records)
		}
	}
}

// counter counts the blocks that are read.
type counter struct {
	*store.Store

	blocks, records int
}

func (c *counter) Get(space store.Space, key []byte) ([]byte, bool, error) {
	if key[2] == 'b' {
		c.blocks++
	}
	return c.Store.Get(space, key)
}

// TestBytesAreThoseOfThisVersion holds the stored form of a block. All nodes must come to the same bytes: a library that
// compresses to others needs a new version of transactions, like any other change of the form.
func TestBytesAreThoseOfThisVersion(t *testing.T) {
	s := open(t)
	var records []record
	for n := uint64(1); n <= block.Size; n++ {
		records = append(records, record{n, int64(n) * 1000, byte(n % 3), byte(n / 100), []byte(fmt.Sprintf("record %d of %d, %s", n, n%7, strings.Repeat("x", int(n%40))))})
	}
	change(t, s, func(tx *store.Tx) error { return log().Append(tx, entries(records)) })
	sum := sha256.New()
	for _, line := range dump(t, s) {
		sum.Write([]byte(line))
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != "e5c2c0f4171b19829bdfd8c1e4d91939b8c660aaa912ec8687babf4ff563fe9d" {
		t.Errorf("the stored bytes are others: %s", got)
	}
}
