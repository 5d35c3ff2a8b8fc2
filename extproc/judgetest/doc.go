// Package judgetest has a vendor's own SDK judge what the gateway writes and what its tests take for a provider's. The SDKs are those that
// make sdks installs, and the judge is the script testdata/judge.py of the package that is tested: it reads a case in each line, and
// writes a verdict in each.
package judgetest
