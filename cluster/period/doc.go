// Package period reads lengths of time as people write them in requests and in the configuration
// file, such as 12h, 7d, 1mo and monthly, and says when the window of a budget ends.
//
// It is arithmetic only: it has no state and no clock. All ends are in UTC.
package period
