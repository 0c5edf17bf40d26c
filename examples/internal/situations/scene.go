package situations

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynafin/dynafin/dynamosim"
	"github.com/dynafin/dynafin/txn"
)

// scene is one situation: a database, and what is said to whom, written down as it happens.
type scene struct {
	db     *dynamosim.DB
	now    time.Time
	mu     sync.Mutex // a relay visits its shards at the same time
	actors []string
	lines  []string
	faults []error // of the story itself
}

// speaks makes sure that an actor stands on the stage, in the order in which they first speak.
func (s *scene) speaks(actor string) string {
	if !slices.Contains(s.actors, actor) {
		s.actors = append(s.actors, actor)
	}
	return strings.ReplaceAll(actor, " ", "_")
}

func (s *scene) says(from, arrow, to, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from = s.speaks(from)
	s.lines = append(s.lines, fmt.Sprintf("%s%s%s: %s", from, arrow, s.speaks(to), text))
}

// asks and answers are spoken by people and services; what DynamoDB hears is written down by the client itself.
func (s *scene) asks(from, to, text string)    { s.says(from, "->>", to, text) }
func (s *scene) answers(from, to, text string) { s.says(from, "-->>", to, text) }

// notes writes over an actor.
func (s *scene) notes(actor, text string) {
	s.lines = append(s.lines, fmt.Sprintf("Note over %s: %s", s.speaks(actor), text))
}

// passes lets time go on.
func (s *scene) passes(actor string, d time.Duration) {
	s.now = s.now.Add(d)
	s.notes(actor, fmt.Sprintf("%g seconds later", d.Seconds()))
}

func (s *scene) must(err error) {
	if err != nil {
		s.faults = append(s.faults, err)
	}
}

func (s *scene) clock() time.Time { return s.now }

// diagram is the scene in Mermaid's words.
func (s *scene) diagram() string {
	var text strings.Builder
	text.WriteString("```mermaid\nsequenceDiagram\n")
	for _, actor := range s.actors {
		line := "    participant " + s.speaks(actor)
		if strings.Contains(actor, " ") {
			line += " as " + actor
		}
		text.WriteString(line + "\n")
	}
	for _, line := range s.lines {
		text.WriteString("    " + line + "\n")
	}
	text.WriteString("```\n")
	return text.String()
}

// process is a program that asks DynamoDB.
type process struct {
	*scene
	name             string
	lose             int  // the answer of the request of this number does not come,
	dies             bool // and the process dies of it
	diesBehindPaying bool

	sent int
	dead bool
	end  func() // ends what goes on in the process
}

func (p *process) die() {
	p.notes(p.name, "dies")
	p.dead, p.dies = true, true
	if p.end != nil {
		p.end()
	}
}

var errLost = errors.New("the connection broke")

func (s *scene) process(name string) *process { return &process{scene: s, name: name} }

func (p *process) client() *dynamodb.Client {
	return p.db.Client(func(o *dynamodb.Options) {
		o.HTTPClient, o.RetryMaxAttempts = p, 1
	})
}

// commits are made one by one, and repeated at once.
func (p *process) commits() txn.Config {
	return txn.Config{Now: p.clock, Jitter: func(time.Duration) time.Duration { return 0 }}
}

const store = "DynamoDB"

// Do sends a request of the SDK on, and writes down what is asked and answered.
func (p *process) Do(request *http.Request) (*http.Response, error) {
	if p.dead {
		return nil, errLost // nobody is there who could send it
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	target := request.Header.Get("X-Amz-Target")
	if strings.HasSuffix(target, ".Query") {
		return p.look(request, asked(target, body))
	}
	p.sent++
	p.says(p.name, "->>", store, asked(target, body))
	response, err := p.db.Do(request)
	if err != nil {
		return nil, err
	}
	if p.sent == p.lose {
		p.says(store, "--x", p.name, "applied, and the answer is lost")
		if p.dies {
			p.die()
		}
		return nil, errLost
	}
	answer, err := reread(response)
	if err != nil {
		return nil, err
	}
	p.says(store, "-->>", p.name, answered(response.StatusCode, answer))
	return response, nil
}

// look sends a Query on. Of the many that visit every shard those are written down that find something.
func (p *process) look(request *http.Request, question string) (*http.Response, error) {
	response, err := p.db.Do(request)
	if err != nil {
		return nil, err
	}
	answer, err := reread(response)
	if err != nil {
		return nil, err
	}
	if found := answered(response.StatusCode, answer); found != "0 found" {
		p.says(p.name, "->>", store, question)
		p.says(store, "-->>", p.name, found)
	}
	return response, nil
}

// reread reads a body and puts it back.
func reread(response *http.Response) ([]byte, error) {
	body, err := io.ReadAll(response.Body)
	response.Body = io.NopCloser(bytes.NewReader(body))
	return body, err
}

// write is one action of a request, as it is sent.
type write struct {
	Item, Key           map[string]map[string]string
	ConditionExpression string
}

// asked says what a request wants, record by record.
func asked(target string, body []byte) string {
	_, operation, _ := strings.Cut(target, ".")
	var one write
	if operation == "TransactWriteItems" {
		var all struct{ TransactItems []map[string]write }
		_ = json.Unmarshal(body, &all) // what is not understood is drawn without names
		var parts []string
		for _, action := range all.TransactItems {
			for verb, w := range action {
				parts = append(parts, verb+" "+w.String())
			}
		}
		return "TransactWriteItems<br/>" + strings.Join(parts, "<br/>")
	}
	if operation == "Query" {
		return "Query " + queried(body)
	}
	_ = json.Unmarshal(body, &one)
	return operation + " " + one.String()
}

func (w write) String() string {
	key := w.Key
	if key == nil {
		key = w.Item
	}
	name := record(key["PK"]["S"], key["SK"]["S"])
	switch {
	case w.ConditionExpression == "":
		return name
	case strings.HasPrefix(w.ConditionExpression, "attribute_not_exists") && w.Item != nil:
		return name + ", if there is none"
	}
	return name + ", if it is as it was read"
}

// record is what an item is called in the text.
func record(pk, sk string) string {
	switch {
	case strings.Contains(pk, "#REQ#"):
		return "request"
	case strings.HasPrefix(pk, "OUTBOX#"):
		return "event"
	case strings.Contains(pk, "#CLAIMS"):
		return "claim journal"
	case strings.HasPrefix(pk, "ORDER#"):
		return "order"
	}
	return pk + "/" + sk
}

// queried is what a Query looks for.
func queried(body []byte) string {
	text := string(body)
	switch {
	case strings.Contains(text, "#CLAIMS"):
		return "journals whose lease has ended"
	case strings.Contains(text, "#REPAIR#"):
		return "what is due for repair"
	case strings.Contains(text, "#READY#"):
		return "events that are ready"
	}
	return "records"
}

// answered says what came back.
func answered(status int, body []byte) string {
	var answer struct {
		Type  string `json:"__type"`
		Item  json.RawMessage
		Items []json.RawMessage
		Count *int
	}
	_ = json.Unmarshal(body, &answer)
	switch {
	case status != http.StatusOK && strings.Contains(answer.Type, "TransactionCanceled"):
		return "cancelled, with the records that were met"
	case status != http.StatusOK && strings.Contains(answer.Type, "ConditionalCheckFailed"):
		return "refused, with the record that was met"
	case status != http.StatusOK:
		return answer.Type
	case answer.Count != nil:
		return fmt.Sprint(len(answer.Items), " found")
	case answer.Item != nil:
		return "the record"
	}
	return "applied"
}
