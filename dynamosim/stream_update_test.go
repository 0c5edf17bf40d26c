package dynamosim_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/dynafin/dynafin/dynamosim"
)

// setStream enables a stream with a view, or disables it.
func (st *streamed) setStream(view types.StreamViewType) (*types.TableDescription, error) {
	out, err := st.table.UpdateTable(ctx, &dynamodb.UpdateTableInput{
		TableName:           st.name,
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(view != ""), StreamViewType: view},
	})
	if err != nil {
		return nil, err
	}
	return out.TableDescription, nil
}

func TestEachEnablingBeginsANewStream(t *testing.T) {
	st := newStreamed(t, bothImages, dynamosim.StreamOptions{})
	st.put(t, "p", "1")

	_, err := st.setStream(types.StreamViewTypeNewImage)
	wantCode(t, err, "ValidationException")
	d, err := st.setStream("")
	if must(t, d, err); d.StreamSpecification != nil || *d.LatestStreamArn != *st.arn {
		t.Errorf("without a stream the table is %+v", d)
	}
	_, err = st.setStream("")
	wantCode(t, err, "ValidationException")
	st.put(t, "p", "2")

	d, err = st.setStream(types.StreamViewTypeNewImage)
	if must(t, d, err); *d.LatestStreamArn == *st.arn || d.StreamSpecification.StreamViewType != types.StreamViewTypeNewImage {
		t.Errorf("with a new stream the table is %+v", d)
	}
	st.put(t, "p", "3")

	wantBrief(t, st.records(t), "INSERT p/1")
	st.arn = d.LatestStreamArn
	wantBrief(t, st.records(t), "INSERT p/3")
	list, err := st.streams.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{TableName: st.name})
	if n := len(must(t, list, err).Streams); n != 2 {
		t.Errorf("the table has %d streams", n)
	}
}

func TestDisablingAStreamLosesNoRecordThatIsOnItsWay(t *testing.T) {
	st := newStreamed(t, bothImages, dynamosim.StreamOptions{Delay: 1 << 40, Interleave: true})
	for _, sk := range []string{"1", "2", "3"} {
		st.put(t, "p", sk)
	}
	d, err := st.setStream("")
	must(t, d, err)
	if n := len(st.records(t)); n != 3 {
		t.Errorf("%d records, want 3", n)
	}
}

func TestTheRecordOfAnExpiryNamesTheService(t *testing.T) {
	st := newStreamed(t, bothImages, dynamosim.StreamOptions{})
	out, err := st.table.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: st.name, TimeToLiveSpecification: &types.TimeToLiveSpecification{Enabled: aws.Bool(true), AttributeName: aws.String("until")},
	})
	must(t, out, err)
	st.put(t, "p", "1", "until", seconds(st.now))
	st.put(t, "p", "2")
	st.pass(time.Minute)
	if n := st.db.SweepExpired(nil); n != 1 {
		t.Fatalf("%d items expired", n)
	}
	st.remove(t, "p", "2")
	records := st.records(t)
	wantBrief(t, records, "INSERT p/1, INSERT p/2, REMOVE p/1, REMOVE p/2")
	who := records[2].UserIdentity
	if who == nil || *who.Type != "Service" || *who.PrincipalId != "dynamodb.amazonaws.com" || records[2].Dynamodb.OldImage == nil {
		t.Errorf("the record of the expiry is %+v", records[2])
	}
	if records[3].UserIdentity != nil {
		t.Errorf("the record of a client's deletion is %+v", records[3])
	}
}
