// Package plot shows measurements in documents: as tables between marks of a page, and as a picture of curves. The same
// figures always make the same bytes, so that a test can hold a page against the figures it was made of.
package plot
