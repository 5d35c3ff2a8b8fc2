// Package price says what models cost: the table of list prices that the gateway is
// built with ([List]), price maps in LiteLLM's form ([ParseMap]), and what a request
// costs ([Prices]).
//
// Prices are exact to 24 decimals of a dollar. The cost of a request is summed in that
// unit and rounded once, to whole pico-dollars.
package price
