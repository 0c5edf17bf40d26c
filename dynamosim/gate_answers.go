package dynamosim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/dynafin/dynafin/dynamosim/internal/engine"
)

const (
	reasonConflict   = "TransactionConflict"
	reasonThrottling = "ThrottlingError"
)

// reasonTexts are what DynamoDB says beside the codes.
var reasonTexts = map[string]string{
	reasonConflict:                  "Transaction is ongoing for the item",
	reasonThrottling:                "Throughput exceeds the current capacity of your table or index.",
	"ProvisionedThroughputExceeded": "The level of configured provisioned throughput for the table was exceeded.",
}

// object is a JSON object whose members are left as they are.
type object = map[string]json.RawMessage

// refusal is the answer in place of the database.
func (p *Pending) refusal(fate Fate) engine.Reply {
	switch fate {
	case Throttle:
		return engine.ThrottledReply()
	case ThrottleProvisioned:
		return exception("ProvisionedThroughputExceededException", "message",
			"The level of configured provisioned throughput for the table was exceeded.", "TableWriteProvisionedThroughputExceeded")
	case ThrottleAccount:
		return exception("RequestLimitExceeded", "message",
			"Throughput exceeds the current throughput limit for your account.", "TableWriteAccountLimitExceeded")
	case Conflict:
		if actions := p.Actions(); actions > 0 {
			return engine.CanceledByConflictReply(actions)
		}
		return engine.ConflictReply()
	case InProgress:
		return engine.InProgressReply()
	case TokenMismatch:
		return exception("IdempotentParameterMismatchException", "Message",
			"The provided client token was used before with other parameters", "")
	default:
		return engine.InternalErrorReply()
	}
}

// exception is an error of the service whose JSON has the given key for its text.
func exception(name, textKey, text, throttled string) engine.Reply {
	body := map[string]any{"__type": "com.amazonaws.dynamodb.v20120810#" + name, textKey: text}
	if throttled != "" {
		body["ThrottlingReasons"] = []map[string]string{{"reason": throttled, "resource": "arn:aws:dynamodb:us-east-1:000000000000:table"}}
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		return engine.InternalErrorReply()
	}
	return engine.Reply{Status: http.StatusBadRequest, Body: encoded}
}

// poison adds a condition that cannot hold to the actions at chosen positions, and takes the token out, which is the
// original's. It returns nil if nothing is chosen.
func poison(body []byte, codes []string) ([]byte, error) {
	var request object
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, err
	}
	var actions []object
	if err := json.Unmarshal(request["TransactItems"], &actions); err != nil {
		return nil, err
	}
	chosen := false
	for i, action := range actions {
		if i >= len(codes) || codes[i] == "" {
			continue
		}
		chosen = true
		for kind, raw := range action {
			changed, err := neverHolds(raw)
			if err != nil {
				return nil, err
			}
			action[kind] = changed
		}
	}
	if !chosen {
		return nil, nil
	}
	delete(request, "ClientRequestToken")
	var err error
	if request["TransactItems"], err = json.Marshal(actions); err != nil {
		return nil, err
	}
	return json.Marshal(request)
}

func neverHolds(raw json.RawMessage) (json.RawMessage, error) {
	const impossible = "attribute_exists(dynamosimGate) AND attribute_not_exists(dynamosimGate)"
	var write object
	if err := json.Unmarshal(raw, &write); err != nil {
		return nil, err
	}
	condition := impossible
	if own := write["ConditionExpression"]; own != nil {
		var text string
		if err := json.Unmarshal(own, &text); err != nil {
			return nil, err
		}
		condition = "(" + text + ") AND " + impossible
	}
	encoded, err := json.Marshal(condition)
	if err != nil {
		return nil, err
	}
	write["ConditionExpression"] = encoded
	return json.Marshal(write)
}

// overlay puts the chosen reasons into a cancellation. It reports false for an answer of another kind.
func overlay(answer []byte, codes []string) ([]byte, bool) {
	var body object
	var reasons []object
	if json.Unmarshal(answer, &body) != nil || json.Unmarshal(body["CancellationReasons"], &reasons) != nil {
		return nil, false
	}
	for i := range reasons {
		if i >= len(codes) || codes[i] == "" {
			continue
		}
		reasons[i] = object{"Code": quoted(codes[i])}
		if text := reasonTexts[codes[i]]; text != "" {
			reasons[i]["Message"] = quoted(text)
		}
	}
	body["Message"] = quoted("Transaction cancelled, please refer cancellation reasons for specific reasons " + codesOf(reasons))
	encoded, err := json.Marshal(reasons)
	if err != nil {
		return nil, false
	}
	body["CancellationReasons"] = encoded
	mixed, err := json.Marshal(body)
	return mixed, err == nil
}

func quoted(text string) json.RawMessage {
	encoded, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return encoded
}

// codesOf lists the codes as DynamoDB's message does.
func codesOf(reasons []object) string {
	codes := make([]string, len(reasons))
	for i, reason := range reasons {
		if json.Unmarshal(reason["Code"], &codes[i]) != nil {
			codes[i] = "?"
		}
	}
	return "[" + strings.Join(codes, ", ") + "]"
}

// resultOf puts an answer in a few words.
func resultOf(response *http.Response, body []byte) string {
	if response == nil {
		return ""
	}
	if response.StatusCode == http.StatusOK {
		return "ok"
	}
	var said struct {
		Type                string `json:"__type"`
		CancellationReasons []object
	}
	if json.Unmarshal(body, &said) != nil || said.Type == "" {
		return fmt.Sprintf("HTTP %d", response.StatusCode)
	}
	if said.CancellationReasons != nil {
		return "cancelled " + codesOf(said.CancellationReasons)
	}
	return said.Type[strings.LastIndexByte(said.Type, '#')+1:]
}
