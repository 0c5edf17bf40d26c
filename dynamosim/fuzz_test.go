package dynamosim_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

var fuzzOperations = []string{
	"CreateTable", "DescribeTable", "DeleteTable", "ListTables", "PutItem", "GetItem", "UpdateItem", "DeleteItem", "Query",
	"BatchGetItem", "BatchWriteItem", "TransactWriteItems", "TransactGetItems", "Scan", "UpdateTable", "UpdateTimeToLive",
	"DescribeTimeToLive",
}

// FuzzRequest sends any body to any operation. Whatever it is, nothing panics, the answer has the service's shape, and
// an equal database gives an equal answer.
func FuzzRequest(f *testing.F) {
	const key = `"TableName":"tab","Key":{"pk":{"S":"p"},"sk":{"S":"s"}}`
	seeds := map[string][]string{
		"CreateTable": {rawTable, strings.Replace(rawTable, "tab", "new", 1),
			`{"TableName":"new","KeySchema":[{}],"AttributeDefinitions":[{}],"GlobalSecondaryIndexes":[{}],"LocalSecondaryIndexes":[{}]}`},
		"DescribeTable": {`{"TableName":"tab"}`},
		"DeleteTable":   {`{"TableName":"tab"}`},
		"ListTables":    {`{"Limit":1,"ExclusiveStartTableName":"aaa"}`},
		"PutItem":       {rawItem, `{"TableName":"tab","Item":{"pk":{"S":"q"},"sk":{"S":"s"},"x":{"NS":["1","2"]},"y":{"B":"AA=="},"z":{"NULL":true}}}`},
		"GetItem":       {`{` + key + `,"ProjectionExpression":"a.b[0], #x","ExpressionAttributeNames":{"#x":"gk"}}`},
		"UpdateItem": {`{` + key + `,"UpdateExpression":"SET a.b[0] = a.b[0] + :n, c = if_not_exists(c, :l) ADD n :n REMOVE gk",
			"ExpressionAttributeValues":{":n":{"N":"1"},":l":{"L":[]}},"ReturnValues":"UPDATED_NEW"}`},
		"DeleteItem": {`{` + key + `,"ConditionExpression":"size(a) > :n OR contains(gk, :g)","ExpressionAttributeValues":{":n":{"N":"1"},":g":{"S":"g"}}}`},
		"Query": {`{"TableName":"tab","IndexName":"gix","KeyConditionExpression":"gk = :g AND gs BETWEEN :a AND :b","ScanIndexForward":false,"Limit":1,
			"ExpressionAttributeValues":{":g":{"S":"g"},":a":{"N":"0"},":b":{"N":"9"}},"ReturnConsumedCapacity":"INDEXES",
			"ExclusiveStartKey":{"pk":{"S":"p"},"sk":{"S":"s"},"gk":{"S":"g"},"gs":{"N":"1"}}}`},
		"BatchGetItem":       {`{"RequestItems":{"tab":{"Keys":[{"pk":{"S":"p"},"sk":{"S":"s"}}],"ConsistentRead":true}}}`},
		"BatchWriteItem":     {`{"RequestItems":{"tab":[{"PutRequest":{"Item":{"pk":{"S":"q"},"sk":{"S":"s"}}}},{"DeleteRequest":{"Key":{"pk":{"S":"r"},"sk":{"S":"s"}}}}]}}`},
		"TransactWriteItems": {`{"ClientRequestToken":"t","TransactItems":[{"ConditionCheck":{` + key + `,"ConditionExpression":"attribute_exists(pk)"}},{}]}`},
		"Scan": {`{"TableName":"tab","IndexName":"gix","Segment":1,"TotalSegments":2,"Limit":1,"FilterExpression":"pk > :p",
			"ExpressionAttributeValues":{":p":{"S":"a"}},"ExclusiveStartKey":{"pk":{"S":"p"},"sk":{"S":"s"},"gk":{"S":"g"},"gs":{"N":"1"}}}`,
			`{"TableName":"tab","Segment":0,"TotalSegments":1000000,"ExclusiveStartKey":{"pk":{"S":""},"sk":{"S":"s"}}}`},
		"UpdateTable": {`{"TableName":"tab","AttributeDefinitions":[{"AttributeName":"a","AttributeType":"N"}],"GlobalSecondaryIndexUpdates":[
			{"Create":{"IndexName":"aix","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]}`,
			`{"TableName":"tab","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"gix"}}]}`,
			`{"TableName":"tab","BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1},
			"GlobalSecondaryIndexUpdates":[{"Update":{"IndexName":"gix","ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}}}]}`,
			`{"TableName":"tab","GlobalSecondaryIndexUpdates":[{"Create":{}},{"Update":{}},{"Delete":{}},{}]}`},
		"UpdateTimeToLive":   {`{"TableName":"tab","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"gs"}}`},
		"DescribeTimeToLive": {`{"TableName":"tab"}`},
		"TransactGetItems":   {`{"TransactItems":[{"Get":{` + key + `}},{"Get":null}]}`},
	}
	for i, operation := range fuzzOperations {
		for _, body := range append(seeds[operation], `{}`, `null`, `[]`, `{"TableName":null}`, `{"RequestItems":{"tab":null}}`) {
			f.Add(uint8(i), []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, choice uint8, body []byte) {
		operation := fuzzOperations[int(choice)%len(fuzzOperations)]
		status, answer := post(t, rawDB(t), operation, body)
		checkShape(t, status, answer)
		if repeated, same := post(t, rawDB(t), operation, body); repeated != status || same != answer {
			t.Errorf("the same request to the same database gave\n%s\nand\n%s", answer, same)
		}
	})
}

func checkShape(t *testing.T, status int, answer string) {
	t.Helper()
	if !json.Valid([]byte(answer)) {
		t.Fatalf("status %d with invalid JSON: %s", status, answer)
	}
	var refusal struct {
		Type string `json:"__type"`
	}
	if err := json.Unmarshal([]byte(answer), &refusal); err != nil {
		t.Fatal(err)
	}
	if (status == http.StatusOK) != (refusal.Type == "") || refusal.Type != "" && !strings.Contains(refusal.Type, "#") {
		t.Fatalf("status %d: %s", status, answer)
	}
}
