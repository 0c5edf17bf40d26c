package export

import "iter"

// Map turns records into what a consumer reads, one by one and in their order: events for package projection, lines and balances of
// package ledger, rows for package reconcile. Records for which of is not ok are left out; its error ends the sequence.
func Map[T any](records iter.Seq2[Record, error], of func(r Record) (t T, ok bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for r, err := range records {
			var t T
			ok := true
			if err == nil {
				t, ok, err = of(r)
			}
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			if ok && !yield(t, nil) {
				return
			}
		}
	}
}

// Items are the items of records, in their order; what was deleted in the window of an incremental export is left out.
//
// An error of the records is handed on and ends them.
func Items(records iter.Seq2[Record, error]) iter.Seq2[Item, error] {
	return Map(records, func(r Record) (Item, bool, error) { return r.New, !r.Deleted(), nil })
}
