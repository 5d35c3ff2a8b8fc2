package splice_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

type event struct {
	Raw, Data, Type string
	HasData         bool
}

// collect feeds the chunks and returns a copy of each event. It overwrites each chunk after
// use, to detect events that point into an old one.
func collect(tb testing.TB, limit int, chunks ...[]byte) ([]event, error) {
	tb.Helper()
	s := splice.Splitter{MaxEvent: limit}
	var out []event
	var e splice.Event
	keep := func() {
		if e.DataAt >= 0 && !bytes.HasPrefix(e.Raw[e.DataAt:], e.Data) {
			tb.Fatalf("DataAt is %d in %q", e.DataAt, e.Raw)
		}
		out = append(out, event{string(e.Raw), string(e.Data), string(e.Type), e.HasData})
		if e.HasData && !bytes.ContainsAny(e.Data, "\r") {
			checkRewrite(tb, &e)
		}
	}
	for _, c := range chunks {
		c = bytes.Clone(c)
		s.Push(c)
		for s.Next(&e) {
			keep()
		}
		for i := range c {
			c[i] = '#'
		}
	}
	for s.Last(&e) {
		keep()
	}
	return out, s.Err()
}

// checkRewrite rewrites an event with its own data and reads it again.
func checkRewrite(tb testing.TB, e *splice.Event) {
	tb.Helper()
	again := e.Rewrite(nil, e.Data)
	if e.DataAt >= 0 && !bytes.Equal(again, e.Raw) {
		tb.Fatalf("%q became %q", e.Raw, again)
	}
	var s splice.Splitter
	var f splice.Event
	s.Push(again)
	if !s.Last(&f) || !bytes.Equal(f.Data, e.Data) || !bytes.Equal(f.Type, e.Type) {
		tb.Fatalf("%q was rewritten to %q, which reads as %+v", e.Raw, again, f)
	}
}

func TestSplitter(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []event
	}{
		{"nothing", "", nil},
		{"LF", "data: a\n\ndata: b\n\n", []event{{"data: a\n\n", "a", "", true}, {"data: b\n\n", "b", "", true}}},
		{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []event{{"data: a\r\n\r\n", "a", "", true}, {"data: b\r\n\r\n", "b", "", true}}},
		{"CR", "data: a\r\rdata: b\r\r", []event{{"data: a\r\r", "a", "", true}, {"data: b\r\r", "b", "", true}}},
		{"mixed", "data: a\n\r\ndata: b\r\n\ndata: c\r\r\n", []event{{"data: a\n\r\n", "a", "", true}, {"data: b\r\n\n", "b", "", true}, {"data: c\r\r\n", "c", "", true}}},
		{"BOM", "\xef\xbb\xbfdata: a\n\n", []event{{"\xef\xbb\xbfdata: a\n\n", "a", "", true}}},
		{"BOM later", "data: a\n\n\xef\xbb\xbfdata: b\n\n", []event{{"data: a\n\n", "a", "", true}, {"\xef\xbb\xbfdata: b\n\n", "", "", false}}},
		{"half a BOM", "\xef\xbbdata: a\n\n", []event{{"\xef\xbbdata: a\n\n", "", "", false}}},
		{"comment", ": ping\n\n:\n\ndata: a\n: x\n\n", []event{{": ping\n\n", "", "", false}, {":\n\n", "", "", false}, {"data: a\n: x\n\n", "a", "", true}}},
		{"lines", "event: e\nid: 1\ndata: a\ndata:b\ndata\ndata:  c\n\n", []event{{"event: e\nid: 1\ndata: a\ndata:b\ndata\ndata:  c\n\n", "a\nb\n\n c", "e", true}}},
		{"no space", "data:{}\n\n", []event{{"data:{}\n\n", "{}", "", true}}},
		{"empty data", "data:\n\n", []event{{"data:\n\n", "", "", true}}},
		{"blank lines", "\n\n\ndata: a\n\n\n", []event{{"\n", "", "", false}, {"\n", "", "", false}, {"\n", "", "", false}, {"data: a\n\n", "a", "", true}, {"\n", "", "", false}}},
		{"no blank line at the end", "data: a\n\ndata: [DONE]\n", []event{{"data: a\n\n", "a", "", true}, {"data: [DONE]\n", "[DONE]", "", true}}},
		{"no line end at the end", "data: [DONE]", []event{{"data: [DONE]", "[DONE]", "", true}}},
		{"two ends", "data: [DONE]\n\ndata: [DONE]\n\n", []event{{"data: [DONE]\n\n", "[DONE]", "", true}, {"data: [DONE]\n\n", "[DONE]", "", true}}},
		{"other names", "dat: a\ndata2: b\n data: c\nDATA: d\n\n", []event{{"dat: a\ndata2: b\n data: c\nDATA: d\n\n", "", "", false}}},
		{"bytes", "data: \x00\xff\xfe\n\n", []event{{"data: \x00\xff\xfe\n\n", "\x00\xff\xfe", "", true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := collect(t, 0, []byte(c.in))
			if d := cmp.Diff(c.want, got); d != "" || err != nil {
				t.Fatal(d, err)
			}
			everySplit(t, 0, []byte(c.in))
		})
	}
}

// everySplit checks that a stream has the same events for any chunks: two, split at each
// position, three, and single bytes.
func everySplit(tb testing.TB, limit int, in []byte) {
	tb.Helper()
	want, wantErr := collect(tb, limit, in)
	same := func(chunks ...[]byte) {
		got, err := collect(tb, limit, chunks...)
		if !slices.Equal(want, got) || (err == nil) != (wantErr == nil) {
			tb.Fatalf("%q: %s (%v, %v)", chunks, cmp.Diff(want, got), err, wantErr)
		}
	}
	var single [][]byte
	for i := range in {
		single = append(single, in[i:i+1])
		same(in[:i], in[i:])
		if len(in) < 60 {
			for k := i; k < len(in); k++ {
				same(in[:i], in[i:k], in[k:])
			}
		}
	}
	same(single...)
	if all := ""; wantErr == nil {
		for _, e := range want {
			all += e.Raw
		}
		if all != string(in) {
			tb.Fatalf("the events together are %q", all)
		}
	}
}

func TestSplitterEverySplitOfAStream(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r"} {
		var b strings.Builder
		b.WriteString("\xef\xbb\xbf: hello" + end + end)
		for i := range 5 {
			fmt.Fprintf(&b, "event: x%[2]sdata: {\"n\":%[1]d,%[2]sdata: \"é\":\"\u2028😀\"}%[2]s%[2]s", i, end)
		}
		b.WriteString("data: " + delta + end + end + "data: [DONE]" + end)
		everySplit(t, 0, []byte(b.String()))
	}
}

func TestSplitterLimit(t *testing.T) {
	in := []byte("data: 12\n\ndata: 1234\n\ndata: 12345\n\ndata: 1\n\n")
	got, err := collect(t, 12, in)
	if len(got) != 2 {
		t.Errorf("%d events", len(got))
	}
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != fault.Upstream || e.Code != "event_too_large" {
		t.Error(err)
	}
	everySplit(t, 12, in)
	everySplit(t, 12, []byte("data: 1234\r\rdata: 12345\r\rx"))

	// A line without an end stops at 16 MiB, for any chunks.
	var s splice.Splitter
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	var ev splice.Event
	for i := 0; s.Err() == nil; i++ {
		if i > 16 {
			t.Fatal("no limit")
		}
		s.Push(chunk)
		if s.Next(&ev) {
			t.Fatal("an event")
		}
	}
	s.Push([]byte("\n\n"))
	if s.Next(&ev) || s.Last(&ev) {
		t.Error("an event after the failure")
	}
	s.Reset()
	s.Push([]byte("data: a\n\n"))
	if !s.Next(&ev) || string(ev.Data) != "a" || s.Err() != nil {
		t.Error("not usable after Reset")
	}
}

func TestSplitterAllocatesNothing(t *testing.T) {
	chunk := []byte("data: " + delta + "\n\ndata: " + delta + "\n\n: ping\n\n")
	var s splice.Splitter
	var e splice.Event
	if n := testing.AllocsPerRun(100, func() {
		s.Push(chunk)
		for s.Next(&e) {
			if e.HasData && &e.Data[0] != &e.Raw[6] {
				t.Fatal("data was copied")
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if s.Held() != 0 {
		t.Errorf("%d bytes held", s.Held())
	}
}

func TestRewrite(t *testing.T) {
	for _, c := range []struct{ in, data, want string }{
		{"data: a\r\n\r\n", "b", "data: b\r\n\r\n"},
		{"id: 1\ndata:a\n: c\n\n", "", "id: 1\ndata:\n: c\n\n"},
		{"id: 1\ndata: a\nevent: e\ndata: b\n\n", "xy", "id: 1\ndata: xy\nevent: e\n\n"},
		{"data: a\n\n", "x\ny", "data: x\ndata: y\n\n"},
		{"\xef\xbb\xbfdata: a\ndata: b\n\n", "x", "\xef\xbb\xbfdata: x\n\n"},
	} {
		var s splice.Splitter
		var e splice.Event
		s.Push([]byte(c.in))
		if !s.Next(&e) {
			t.Fatal(c.in)
		}
		if got := string(e.Rewrite(nil, []byte(c.data))); got != c.want {
			t.Errorf("%q with %q: %q, want %q", c.in, c.data, got, c.want)
		}
	}
}

func TestIsDone(t *testing.T) {
	for in, want := range map[string]bool{"[DONE]": true, " [DONE] ": true, "": false, "[DONE": false, "[DONE]x": false, "[done]": false, "{}": false} {
		if splice.IsDone([]byte(in)) != want {
			t.Errorf("%q", in)
		}
	}
}

func FuzzSplitter(f *testing.F) {
	f.Add([]byte("data: a\n\ndata: b\r\n\r\n: c\r\rdata: d"), uint8(3))
	f.Add([]byte("\xef\xbb\xbfevent: x\ndata: a\ndata: b\n\n\n"), uint8(0))
	f.Add([]byte("data: a long line that is over\n\n"), uint8(20))
	f.Fuzz(func(t *testing.T, in []byte, limit uint8) {
		if len(in) > 120 {
			in = in[:120]
		}
		everySplit(t, int(limit), in)
		got, err := collect(t, 0, in)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			got[i].Raw = ""
		}
		if want := plainly(in); !slices.Equal(want, got) {
			t.Fatalf("%q: %s", in, cmp.Diff(want, got))
		}
	})
}

// plainly reads a stream line by line, like the text of the standard.
func plainly(in []byte) []event {
	text := strings.ReplaceAll(strings.ReplaceAll(string(in), "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1] // text after the last line end is not a line
	}
	var out []event
	var data []string
	var e event
	open := false
	end := func() {
		e.Data, e.HasData = strings.Join(data, "\n"), data != nil
		out = append(out, e)
		e, data, open = event{}, nil, false
	}
	for i, l := range lines {
		if i == 0 {
			l = strings.TrimPrefix(l, "\xef\xbb\xbf")
		}
		open = true
		name, value, _ := strings.Cut(l, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case l == "":
			end()
		case name == "data":
			data = append(data, value)
		case name == "event":
			e.Type = value
		}
	}
	if open {
		end()
	}
	return out
}
