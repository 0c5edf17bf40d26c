package dynamosim_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/dynafin/dynafin/dynamosim"
)

// post sends wire JSON past the SDK, which refuses or repairs much of what these tests send.
func post(t testing.TB, db *dynamosim.DB, operation string, body []byte) (int, string) {
	t.Helper()
	return postTo(t, db, "DynamoDB_20120810."+operation, body)
}

func postTo(t testing.TB, db *dynamosim.DB, target string, body []byte) (int, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, "http://dynamosim.invalid/", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Amz-Target", target)
	resp, err := db.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

// rawTable is a table "tab" (pk S, sk S) with a sparse index "gix" (gk S, gs N) of keys.
const rawTable = `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST",
	"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"},
		{"AttributeName":"gk","AttributeType":"S"},{"AttributeName":"gs","AttributeType":"N"}],
	"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
	"GlobalSecondaryIndexes":[{"IndexName":"gix","Projection":{"ProjectionType":"KEYS_ONLY"},
		"KeySchema":[{"AttributeName":"gk","KeyType":"HASH"},{"AttributeName":"gs","KeyType":"RANGE"}]}]}`

const rawItem = `{"TableName":"tab","Item":{"pk":{"S":"p"},"sk":{"S":"s"},"gk":{"S":"g"},"gs":{"N":"1"},"a":{"M":{"b":{"L":[{"N":"1"}]}}}}}`

func rawDB(t testing.TB) *dynamosim.DB {
	t.Helper()
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	db := dynamosim.Open(dynamosim.Options{Now: func() time.Time { return now }})
	for _, r := range [][2]string{{"CreateTable", rawTable}, {"PutItem", rawItem}} {
		if status, answer := post(t, db, r[0], []byte(r[1])); status != http.StatusOK {
			t.Fatal(answer)
		}
	}
	return db
}

const (
	spaceValidation = "com.amazon.coral.validate#ValidationException"
	spaceProtocol   = "com.amazon.coral.service#"
	spaceService    = "com.amazonaws.dynamodb.v20120810#"
)

// The texts and their order of precedence, as the service was measured to give them.
func TestErrorsHaveTheServicesShapeAndWords(t *testing.T) {
	const one = "1 validation error detected: "
	const key = `"Key":{"pk":{"S":"p"},"sk":{"S":"s"}}`
	for _, c := range []struct{ operation, body, kind, message string }{
		{"PutItem", `{`, spaceProtocol + "SerializationException", ""},
		{"PutItem", `{"TableName":5}`, spaceProtocol + "SerializationException", "NUMBER_VALUE cannot be converted to String"},
		{"PutItem", `{}`, spaceValidation, "2 validation errors detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null; " +
			"Value null at 'item' failed to satisfy constraint: Member must not be null"},
		{"GetItem", `{"TableName":"tab",` + key + `,"ConsistentRead":"yes"}`, spaceProtocol + "SerializationException",
			"Unexpected token received from parser"},
		{"GetItem", `{"TableName":{},` + key + `}`, spaceProtocol + "SerializationException", "Start of structure or map found where not expected"},
		{"GetItem", `{"TableName":[],` + key + `}`, spaceProtocol + "SerializationException",
			"Unrecognized collection type class java.lang.String"},
		{"GetItem", `{"TableName":true,` + key + `}`, spaceProtocol + "SerializationException", "TRUE_VALUE cannot be converted to String"},
		{"Query", `{"TableName":"tab","Limit":"1"}`, spaceProtocol + "SerializationException", "STRING_VALUE cannot be converted to Integer"},
		{"TransactWriteItems", `{"TransactItems":"all"}`, spaceProtocol + "SerializationException", "Unexpected field type"},
		{"PutItem", `{"TableName":"tab","Item":{}}`, spaceValidation, "One or more parameter values were invalid: Missing the key pk in the item"},
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"p"},"sk":{"N":"1"}}}`, spaceValidation,
			"One or more parameter values were invalid: Type mismatch for key sk expected: S actual: N"},
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"p"},"sk":{"S":""}}}`, spaceValidation,
			"One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: sk"},
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"p"},"sk":{"S":"s"},"gk":{"S":""}}}`, spaceValidation,
			"One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for " +
				"a key attribute cannot contain an empty string value. IndexName: gix, IndexKey: gk"},
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"p"},"sk":{"S":"s"},"gk":{"N":"1"}}}`, spaceValidation,
			"One or more parameter values were invalid: Type mismatch for Index Key gk Expected: S Actual: N IndexName: gix"},
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"p"},"sk":{"S":"s"},"n":{"N":"x"}}}`, spaceValidation,
			one + "The parameter cannot be converted to a numeric value: x"},
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"` + strings.Repeat("x", 2049) + `"},"sk":{"S":"s"}}}`, spaceValidation,
			"One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes"},
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"p"},"sk":{"S":"s"}},"ReturnValues":"ALL_NEW"}`, spaceValidation,
			one + "ReturnValues can only be ALL_OLD or NONE"},
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"p"},"sk":{"S":"s"}},"ConditionExpression":"a = :b"}`, spaceValidation,
			one + "Invalid ConditionExpression: An expression attribute value used in expression is not defined; attribute value: :b"},
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"p"},"sk":{"S":"s"}},"ExpressionAttributeNames":{"#a":"a"}}`, spaceValidation,
			one + "ExpressionAttributeNames can only be specified when using expressions"},
		{"PutItem", `{"TableName":"tab","Item":{"pk":{"S":"p"},"sk":{"S":"s"}},"ConditionExpression":"a = :b","Expected":{}}`, spaceValidation,
			one + "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {Expected} " +
				"Expression parameters: {ConditionExpression}"},
		{"PutItem", `{"TableName":"none","Item":{"pk":{"S":"p"},"sk":{"S":"s"}}}`, spaceService + "ResourceNotFoundException", "Requested resource not found"},
		{"UpdateItem", `{"TableName":"tab",` + key + `,"UpdateExpression":"SET sk = :x","ExpressionAttributeValues":{":x":{"S":"x"}}}`, spaceValidation,
			"One or more parameter values were invalid: Cannot update attribute sk. This attribute is part of the key"},
		{"UpdateItem", `{"TableName":"tab",` + key + `,"UpdateExpression":"SET gk = :x","ExpressionAttributeValues":{":x":{"S":""}}}`, spaceValidation,
			"One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not " +
				"supported. The AttributeValue for a key attribute cannot contain an empty string value."},
		{"UpdateItem", `{"TableName":"tab",` + key + `,"UpdateExpression":"SET x.y = :x","ExpressionAttributeValues":{":x":{"S":"x"}}}`, spaceValidation,
			"The document path provided in the update expression is invalid for update"},
		{"GetItem", `{"TableName":"tab","Key":{"pk":{"S":"p"}}}`, spaceValidation, "The provided key element does not match the schema"},
		{"GetItem", `{"TableName":"tab",` + key + `,"AttributesToGet":["a"]}`, spaceValidation,
			"The legacy parameter AttributesToGet is not supported by dynamosim; use an expression"},
		{"Query", `{"TableName":"tab"}`, spaceValidation, "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."},
		{"Query", `{"TableName":"tab","KeyConditionExpression":"pk > :p","ExpressionAttributeValues":{":p":{"S":"p"}}}`, spaceValidation,
			"Query key condition not supported"},
		{"Query", `{"TableName":"tab","KeyConditionExpression":"sk = :p","ExpressionAttributeValues":{":p":{"S":"p"}}}`, spaceValidation,
			"Query condition missed key schema element: pk"},
		{"Query", `{"TableName":"tab","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"N":"1"}}}`, spaceValidation,
			"One or more parameter values were invalid: Condition parameter type does not match schema type"},
		{"Query", `{"TableName":"tab","KeyConditionExpression":"pk = :p","FilterExpression":"sk = :p","ExpressionAttributeValues":{":p":{"S":"p"}}}`,
			spaceValidation, "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk"},
		{"Query", `{"TableName":"tab","IndexName":"gix","ConsistentRead":true,"KeyConditionExpression":"gk = :p",
			"ExpressionAttributeValues":{":p":{"S":"p"}}}`, spaceValidation, "Consistent reads are not supported on global secondary indexes"},
		{"Query", `{"TableName":"tab","IndexName":"none","KeyConditionExpression":"gk = :p","ExpressionAttributeValues":{":p":{"S":"p"}}}`,
			spaceValidation, "The table does not have the specified index: none"},
		{"Query", `{"TableName":"tab","IndexName":"gix","KeyConditionExpression":"gk = :p","ProjectionExpression":"a",
			"ExpressionAttributeValues":{":p":{"S":"p"}}}`, spaceValidation,
			"One or more parameter values were invalid: Global secondary index gix does not project [a]"},
		{"Query", `{"TableName":"tab","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"p"}},
			"ExclusiveStartKey":{"pk":{"S":"other"},"sk":{"S":"s"}}}`, spaceValidation,
			"The provided starting key is outside query boundaries based on provided conditions"},
		{"Query", `{"TableName":"tab","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"p"}},
			"ExclusiveStartKey":{"pk":{"S":"p"}}}`, spaceValidation, "The provided starting key is invalid"},
		{"Query", `{"TableName":"tab","KeyConditionExpression":"pk = :p AND sk < :p","ExpressionAttributeValues":{":p":{"S":"p"}},
			"ExclusiveStartKey":{"pk":{"S":"p"},"sk":{"S":"z"}}}`, spaceValidation, "The provided starting key does not match the range key predicate"},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"tab","Item":{"pk":{"S":"p"}}},"Delete":{"TableName":"tab",` + key + `}}]}`,
			spaceValidation, "TransactItems can only contain one of Check, Put, Update or Delete"},
		{"TransactWriteItems", `{"ClientRequestToken":"` + strings.Repeat("x", 37) + `","TransactItems":[{"Delete":{"TableName":"tab",` + key + `}}]}`,
			spaceValidation, one + "Value '" + strings.Repeat("x", 37) + "' at 'clientRequestToken' failed to satisfy constraint: " +
				"Member must have length less than or equal to 36"},
		{"Query", `{"TableName":"tab","Select":"COUNT","ProjectionExpression":"a","KeyConditionExpression":"pk = :p"}`, spaceValidation,
			one + "Cannot specify the ProjectionExpression when choosing to get only the Count"},
		{"Query", `{"TableName":"tab","Select":"ALL_PROJECTED_ATTRIBUTES","KeyConditionExpression":"pk = :p"}`, spaceValidation,
			one + "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"},
		{"Query", `{"TableName":"tab","IndexName":"gix","Select":"ALL_ATTRIBUTES","KeyConditionExpression":"gk = :p",
			"ExpressionAttributeValues":{":p":{"S":"p"}}}`, spaceValidation, "One or more parameter values were invalid: Select type " +
			"ALL_ATTRIBUTES is not supported for global secondary index gix because its projection type is not ALL"},
		{"BatchGetItem", `{"RequestItems":{"tab":{"Keys":[{"pk":{"S":"p"},"sk":{"S":"s"}},{"pk":{"S":"p"},"sk":{"S":"s"}}]}}}`, spaceValidation,
			"Provided list of item keys contains duplicates"},
		{"BatchWriteItem", `{"RequestItems":{}}`, spaceValidation, "The requestItems parameter is required for BatchWriteItem"},
		{"ListTables", `{"Limit":0}`, spaceValidation, one + "Value '0' at 'limit' failed to satisfy constraint: " +
			"Member must have value greater than or equal to 1"},
		{"DescribeTable", `{"TableName":"none"}`, spaceService + "ResourceNotFoundException", "Requested resource not found: Table: none not found"},
		{"CreateTable", rawTable, spaceService + "ResourceInUseException", "Table already exists: tab"},
		{"ExecuteStatement", `{"Statement":"SELECT 1"}`, spaceProtocol + "UnknownOperationException", ""},
		{"", `{}`, spaceProtocol + "UnknownOperationException", ""},
	} {
		status, answer := post(t, rawDB(t), c.operation, []byte(c.body))
		var got struct {
			Type    string `json:"__type"`
			Message string `json:"message"`
		}
		if err := json.Unmarshal([]byte(answer), &got); err != nil || status != http.StatusBadRequest {
			t.Errorf("%s %s: status %d, %s", c.operation, c.body, status, answer)
		}
		if got.Type != c.kind || got.Message != c.message {
			t.Errorf("%s %.200s\n got %s: %s\nwant %s: %s", c.operation, c.body, got.Type, got.Message, c.kind, c.message)
		}
	}
}

// Schema-driven decoders lose a text that comes under the other spelling of its member.
func TestMessagesComeUnderTheSpellingOfTheirException(t *testing.T) {
	db := rawDB(t)
	const failing = `{"TransactItems":[{"Delete":{"TableName":"tab","Key":{"pk":{"S":"p"},"sk":{"S":"s"}},"ConditionExpression":"attribute_not_exists(pk)"}}]}`
	for operation, c := range map[string]struct{ body, want string }{
		"TransactWriteItems": {failing, `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",` +
			`"Message":"Transaction cancelled, please refer cancellation reasons for specific reasons [ConditionalCheckFailed]",` +
			`"CancellationReasons":[{"Code":"ConditionalCheckFailed","Message":"The conditional request failed"}]}`},
		"DeleteItem": {`{"TableName":"tab","Key":{"pk":{"S":"p"},"sk":{"S":"s"}},"ConditionExpression":"attribute_not_exists(pk)"}`,
			`{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"The conditional request failed"}`},
	} {
		if _, got := post(t, db, operation, []byte(c.body)); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", operation, got, c.want)
		}
	}
}

func TestAnOlderWordingCanBeChosen(t *testing.T) {
	db := dynamosim.Open(dynamosim.Options{Wording: dynamosim.WordingMay2026})
	_, answer := post(t, db, "PutItem", []byte(`{"TableName":"tab","Item":{},"ReturnValues":"ALL_NEW"}`))
	if !strings.Contains(answer, `"ReturnValues can only be ALL_OLD or NONE"`) {
		t.Errorf("answer is %s", answer)
	}
}

func TestTheHandlerServesAnySDKOverASocket(t *testing.T) {
	server := httptest.NewServer(rawDB(t))
	defer server.Close()
	req, err := http.NewRequest(http.MethodPost, server.URL, strings.NewReader(`{"TableName":"tab","Key":{"pk":{"S":"p"},"sk":{"S":"s"}},"ProjectionExpression":"gs"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
	resp, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || string(answer) != `{"Item":{"gs":{"N":"1"}}}` || resp.Header.Get("Content-Type") != "application/x-amz-json-1.0" {
		t.Errorf("answer is %s, %v", answer, err)
	}
}

func TestABodyOver16MBIsRefused(t *testing.T) {
	body := bytes.Repeat([]byte(" "), 16<<20+1)
	status, answer := post(t, rawDB(t), "GetItem", body)
	if status != http.StatusRequestEntityTooLarge || !strings.Contains(answer, "RequestEntityTooLargeException") {
		t.Errorf("status %d, %s", status, answer)
	}
}
