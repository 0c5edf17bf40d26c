package deployment

import (
	"errors"
	"strings"
	"testing"
)

func TestADeploymentFileSaysWhatIsWhere(t *testing.T) {
	d, err := Parse([]byte(`{"tenants": ["acme"], "requests": {"table": "Orders", "index": "REPAIR", "shards": 7},
		"outbox": [{"service": "orders", "table": "Orders"}, {"service": "trades", "table": "Trades", "shards": 5}],
		"ledger": {"table": "Books", "securities": {"ACME": 0}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(d.Tables(), " "); got != "Orders Trades Books" {
		t.Errorf("tables %s", got)
	}
	services, err := d.Outboxes("trades")
	if err != nil || len(services) != 1 || services[0].Shards() != 5 {
		t.Errorf("%+v, %v", services, err)
	}
	requests, err := d.RequestStore()
	if err != nil || *requests.Index().IndexName != "REPAIR" {
		t.Errorf("%v", err)
	}
	assets, err := d.Assets()
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{"ACME", "USD"} {
		if _, err := assets.Currency(code); err != nil {
			t.Errorf("%s: %v", code, err)
		}
	}
	var missing *MissingError
	if _, err := d.Outboxes("payments"); !errors.As(err, &missing) || missing.Part != "outbox:payments" || len(missing.Has) != 2 {
		t.Errorf("a service that is not there: %v", err)
	}
	if _, err := d.NameStore(); !errors.As(err, &missing) || missing.Part != "names" {
		t.Errorf("a part that is not there: %v", err)
	}
}

func TestAMistakeInADeploymentFileIsNotPassedOver(t *testing.T) {
	for text, want := range map[string]string{
		``:                                  "EOF",
		`{"ledgers": {"table": "Books"}}`:   `unknown field "ledgers"`,
		`{"ledger": {}}`:                    "ledger has no table",
		`{"outbox": [{"table": "Orders"}]}`: "outbox without a name",
		`{"inbox": [{"consumer": "p"}]}`:    "inbox:p has no table",
		`{"ledger": {"table": "B"}} {}`:     "more behind the document",
		`{"ledger": {"table": 5}}`:          "cannot unmarshal",
		`{"outbox": [{"service": "o", "table": "A"}, {"service": "o", "table": "B"}]}`: "outbox:o is there twice",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}

func TestAPartIsPlacedByOneFlag(t *testing.T) {
	var d Deployment
	for _, text := range []string{"requests=Orders", "names=Orders", "outbox:orders=Old", "outbox:orders=Orders", "inbox:portfolio=P", "inbox:portfolio=Portfolio",
		"ledger=Books", "projection:positions=P", "projection:positions=Portfolio", "reconcile=Recon", "audit=Operator"} {
		if err := d.Set(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := d.check(); err != nil || strings.Join(d.Tables(), " ") != "Orders Portfolio Books Recon Operator" || len(d.Outbox) != 1 {
		t.Errorf("%v: %+v", err, d)
	}
	for _, text := range []string{"", "requests", "requests=", "requests:x=T", "outbox=T", "outbox:=T", "nothing=T", "=T"} {
		if err := d.Set(text); err == nil {
			t.Errorf("%q is a part", text)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"name": "b", "tenants": ["acme"], "outbox": [{"service": "orders", "table": "Orders", "shards": 5}]}`))
	f.Add([]byte(`{"ledger": {"table": "Books", "securities": {"ACME": -1}}, "reconcile": {"table": "R", "shards": -7}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Parse(text)
		if err != nil {
			return
		}
		// Whatever it says, it makes something that reports what is wrong itself.
		if s, err := d.Schema(); err == nil {
			_, _ = s.Plan()
		}
	})
}
