package expr

import "iter"

// pathed is anything that has a document path.
type pathed interface{ at() path }

func (p path) at() path { return p }

// groups cuts sorted paths into runs that have the same step at a depth.
func groups[P pathed](paths []P, depth int) iter.Seq[[]P] {
	return func(yield func([]P) bool) {
		for len(paths) > 0 {
			n := 1
			for n < len(paths) && paths[n].at()[depth] == paths[0].at()[depth] {
				n++
			}
			if !yield(paths[:n]) {
				return
			}
			paths = paths[n:]
		}
	}
}
