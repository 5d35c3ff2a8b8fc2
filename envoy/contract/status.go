package contract

// StatusNext is the status that the Check filter gives an answer of which the
// client must see nothing, so that Envoy tries the next group of the plan. It is
// retriable whatever the settings say, and no provider sends it. When it was the
// last attempt, the downstream filter meets it and refuses in the gateway's words.
const StatusNext = 597
