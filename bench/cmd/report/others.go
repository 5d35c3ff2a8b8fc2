package main

// printOthers prints the tables of the requests that are no chats: embeddings, speech and
// transcriptions. The columns are those that they have in common with chats.
func (t *table) printOthers(rps, rpsN column, perReq func(unit float64) func(line) (float64, bool), errs, cores column) {
	latency := func(l line) *quantiles { return l.LatMS }
	first := func(l line) *quantiles { return l.TTFT }
	p50 := func(q *quantiles) float64 { return q.P50 }
	p99 := func(q *quantiles) float64 { return q.P99 }
	t.print("Embeddings: 1 KB, 1,536 numbers in response, 0 ms upstream, closed loop, 32 connections", "embeddings", []column{
		rps, rpsN,
		{"CPU µs/req, same", 0, false, perReq(1)},
		{"p50 ms", 2, false, lat(latency, p50)},
		{"p99 ms", 2, false, lat(latency, p99)},
		errs, cores,
	})
	t.print("Speech: 8 at once, pieces of 4 KB 20 ms apart, first after 20 ms; ms added to direct (direct itself: absolute)", "speech", []column{
		{"first piece p50", 2, true, lat(first, p50)},
		{"first piece p99", 2, true, lat(first, p99)},
		{"last p50", 1, true, lat(latency, p50)},
		errs, cores,
	})
	t.print("Transcription: a form of 25 MB, one at a time, 0 ms upstream", "transcription", []column{
		{"p50 ms", 1, false, lat(latency, p50)},
		{"p99 ms", 1, false, lat(latency, p99)},
		{"memory added MB", 0, false, func(l line) (float64, bool) { return l.held(), l.held() > 0 }},
		{"CPU ms/req at usual speed", 1, false, perReq(1000)},
		errs, cores,
	})
}
