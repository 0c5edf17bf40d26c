package outbox_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynafin/dynafin/outbox"
	"github.com/dynafin/dynafin/txn"
)

func journalItem(events []byte) txn.Item {
	return txn.Item{
		"PK": &types.AttributeValueMemberS{Value: "SERVICE#orders#CLAIMS"},
		"SK": &types.AttributeValueMemberS{Value: "LEASE#2026-11-29T14:18:30.000000000Z#claim-1"},
		"v":  &types.AttributeValueMemberN{Value: "1"}, "owner": &types.AttributeValueMemberS{Value: "relay"},
		"events": &types.AttributeValueMemberB{Value: events},
	}
}

// FuzzJournal: whatever a journal holds, it is an error or is read as what would be written again.
func FuzzJournal(f *testing.F) {
	for _, seed := range [][]byte{
		nil, []byte("\x05evt-1\x01\x05evt-2\x80\x01"), []byte("\x05evt"), []byte("\x05evt-1"), []byte("\x00\x00"),
		bytes.Repeat([]byte{0xff}, 20), []byte("\x01e\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), []byte("\x81\x00e\x01"),
	} {
		f.Add(seed)
	}
	events := outbox.New(outbox.Config{Service: "orders"})
	f.Fuzz(func(t *testing.T, packed []byte) {
		n, again, err := events.ReadJournal(journalItem(packed))
		if err != nil {
			if !errors.Is(err, outbox.ErrCorrupt) {
				t.Errorf("%v, want ErrCorrupt", err)
			}
			return
		}
		m, third, err := events.ReadJournal(again)
		if err != nil || n != m || !reflect.DeepEqual(again, third) {
			t.Errorf("%x is read as %d events and again as %d, %v", packed, n, m, err)
		}
	})
}

func TestADamagedJournalIsAnErrorAndHidesNoOther(t *testing.T) {
	inBubble(t, plain, noLag, func(s *station) {
		for attr, value := range map[string]types.AttributeValue{
			"v": &types.AttributeValueMemberN{Value: "2"}, "owner": nil, "events": &types.AttributeValueMemberB{Value: []byte{9}},
			"SK": &types.AttributeValueMemberS{Value: "LEASE#1999-soon#claim-1"},
		} {
			item := journalItem([]byte{})
			if item[attr] = value; value == nil {
				delete(item, attr)
			}
			item["SK"] = map[bool]types.AttributeValue{true: item["SK"], false: &types.AttributeValueMemberS{Value: "LEASE#1999-11-29T14:18:30.000000000Z#" + attr}}[attr == "SK"]
			if _, err := txn.Commit(s.Context(), s.client, txn.Put(txn.Table{Name: "Orders"}, item)); err != nil {
				s.Fatal(err)
			}
		}
		ids := s.orders(1)
		if err := s.events.Take(s.Context(), s.client, "claim", s.get(ids[0]), "claim-1", s.began.Add(-2*time.Minute)); err != nil {
			s.Fatal(err)
		}
		if err := s.events.Journal(s.Context(), s.client, "claim-1", s.began.Add(-time.Minute), ids[0]); err != nil {
			s.Fatal(err)
		}
		round, err := s.relay(nil, outbox.RelayConfig{}, nil).Once(s.Context())
		if !errors.Is(err, outbox.ErrCorrupt) || round.Recovered != 1 {
			s.Errorf("%+v, %v", round, err)
		}
		stuck := 0
		for _, err := range s.events.Stuck(s.Context(), s.client, s.began) {
			if stuck++; !errors.Is(err, outbox.ErrCorrupt) {
				s.Errorf("stuck: %v", err)
			}
		}
		if stuck != 1 {
			s.Errorf("%d errors", stuck)
		}
	})
}
