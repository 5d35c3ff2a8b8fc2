// Package money counts in whole pico-dollars (1e-12 USD), the finest unit in
// which a list price per token is a whole number. A Pico, an int64 of them, holds
// 9.2 million dollars: what one request costs, what a budget allows. Sums of Picos
// that are Picos saturate instead of wrapping around; a Total holds any sum. Nothing
// here is a float: a decimal text comes in and a decimal text goes out.
package money
