package inbound_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/extproc/inbound"
)

func TestPassedQuery(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"":                                 "",
		"limit=2&after=file-1":             "limit=2&after=file-1",
		"pageToken=a%2Bb&pageSize=3":       "pageToken=a%2Bb&pageSize=3",
		"page_token=x&nextToken=y":         "page_token=x&nextToken=y",
		"key=secret&x=1":                   "x=1",
		"%6bey=secret&x=1":                 "x=1",
		"api_key=s&api-key=s&KEY=s&a=b":    "a=b",
		"access_token=s&a=b":               "a=b",
		"X-Amz-Signature=s&x-amz-date=d":   "",
		"X-Goog-Signature=s&a":             "a",
		"sig=s&subscription-key=s":         "",
		"%zz=s&a=b":                        "a=b",
		"&&a=b&":                           "a=b",
		"api-version=2024-10-21":           "api-version=2024-10-21",
		"token=s&oauth_token=s&id_token=s": "",
	} {
		in := inbound.Headers{Query: query}
		if got := in.PassedQuery(); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
}
