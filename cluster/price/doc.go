// Package price has the prices of models: the built-in table of list prices ([List]), price maps
// in LiteLLM's form ([ParseMap]), and the cost of a request ([Prices]).
//
// Prices are exact to 24 decimals of a dollar. The cost of a request is summed in that unit and
// rounded once, to whole pico-dollars.
package price
