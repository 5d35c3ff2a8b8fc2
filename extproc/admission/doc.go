// Package admission reserves what a request may use of the limits that apply to it, and releases
// it when the request has ended: a place among the requests in flight at this node, requests and
// tokens of rates, and money of budgets.
//
// Some limits can be checked when only the headers of a request are known (Enter, Check), others
// need its body and its plan (TakeRates, Reserve). The caller of the package decides when that is.
//
// Guarantees:
//
//   - Each reservation ends once, by Release or by Settle. Later calls do nothing.
//   - A request counts against each limit once, whichever of the steps has counted it.
//   - A request that is rejected counts nowhere after Release.
//   - A request without limits costs no allocation.
package admission
