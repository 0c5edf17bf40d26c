package capacity_test

import (
	"testing"

	"github.com/dynafin/dynafin/capacity"
)

// The planned lanes, a second: rates times units of the rounding rules alone. Sizes are those of the access patterns.
func TestThePlannedLanesCostWhatThePlanSays(t *testing.T) {
	t.Parallel()
	const creates, claims, completes, retries, moves = 5000, 5100, 5000, 100, 20
	var (
		event   = hundredths(160)
		ready   = hundredths(45)
		receipt = hundredths(35)

		update  = capacity.ItemWriteUnits(event, event)
		insert  = capacity.IndexWriteUnits(0, ready, false, true)
		remove  = capacity.IndexWriteUnits(ready, 0, false, true)
		move    = capacity.IndexWriteUnits(ready, ready, true, true)
		base    = creates*2*capacity.ItemWriteUnits(0, event) + (claims+completes+retries+moves)*update
		index   = (creates+retries)*insert + claims*remove + moves*move
		symbols = 2000 * capacity.ReadUnits(hundredths(100*40), capacity.Eventual)
	)
	for _, c := range []struct {
		result    string
		got, want int
	}{
		{"standard_write_units", capacity.WriteUnits(hundredths(120)), 2},
		{"base_plus_index_units", capacity.ItemWriteUnits(0, hundredths(120)) + insert, 3},
		{"moved_index_units", capacity.ItemWriteUnits(hundredths(120), hundredths(120)) + move, 4},
		{"ap09_receipt_wru_per_event", 2 * capacity.ItemWriteUnits(0, receipt), 2},
		{"ap09_atomic_path_wru_per_event", 2*capacity.ItemWriteUnits(0, receipt) + 2*capacity.ItemWriteUnits(kib, kib), 4},
		{"ap09_receipt_aggregate_wru_s", 5000 * 2 * capacity.ItemWriteUnits(0, receipt), 10000},
		{"ap13_checkpoint_aggregate_wru_s", 5000 * capacity.ItemWriteUnits(hundredths(30), hundredths(30)), 5000},
		{"ap16_create_base_wru_s", creates * 2 * capacity.ItemWriteUnits(0, event), 20000},
		{"ap16_claim_base_wru_s", claims * update, 10200},
		{"ap16_complete_base_wru_s", completes * update, 10000},
		{"ap16_retry_base_wru_s", retries * update, 200},
		{"ap16_reschedule_base_wru_s", moves * update, 40},
		{"ap16_base_total_wru_s", base, 40440},
		{"ap16_ready_create_insert_wru_s", creates * insert, 5000},
		{"ap16_ready_claim_delete_wru_s", claims * remove, 5100},
		{"ap16_ready_retry_insert_wru_s", retries * insert, 100},
		{"ap16_ready_reschedule_move_wru_s", moves * move, 40},
		{"ap16_no_retry_move_floor_index_wru_s", creates * (insert + remove), 10000},
		{"ap16_ready_index_wru_s", index, 10240},
		{"ap16_total_lifecycle_wru_s", base + index, 50680},
	} {
		if c.got != c.want {
			t.Errorf("%s = %d, want %d", c.result, c.got, c.want)
		}
	}
	if symbols != capacity.Whole(10000) || symbols*8/100 != capacity.Whole(800) {
		t.Errorf("ap06_aggregate_rru_s = %v, ap06_top_symbol_rru_s = %v; want 10000 and 800", symbols, symbols*8/100)
	}
}
