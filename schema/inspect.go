package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// keys compares the keys of the table or of an index, and their types.
func (i *inspection) keys(index, pk, sk string, got []types.KeySchemaElement, kinds []types.AttributeDefinition, wrong, wrongKind Mistake) {
	if want, is := describeKeys(keySchema(pk, sk)), describeKeys(got); want != is {
		i.expect(false, index, wrong, want, is)
		return
	}
	for _, name := range []string{pk, sk} {
		for _, kind := range kinds {
			if aws.ToString(kind.AttributeName) == name {
				i.expect(kind.AttributeType == types.ScalarAttributeTypeS, index, wrongKind, name+" of type S", name+" of type "+string(kind.AttributeType))
			}
		}
	}
}

func describeKeys(keys []types.KeySchemaElement) string {
	var parts []string
	for _, key := range keys {
		parts = append(parts, fmt.Sprintf("%s %s", aws.ToString(key.AttributeName), key.KeyType))
	}
	return strings.Join(parts, ", ")
}

func (i *inspection) index(want Index, t *types.TableDescription) {
	at := slices.IndexFunc(t.GlobalSecondaryIndexes, func(d types.GlobalSecondaryIndexDescription) bool {
		return aws.ToString(d.IndexName) == want.Name
	})
	if at < 0 {
		i.expect(false, want.Name, IndexMissing, "an index", "none")
		return
	}
	got := t.GlobalSecondaryIndexes[at]
	i.expect(got.IndexStatus == types.IndexStatusActive, want.Name, IndexNotActive, "ACTIVE", string(got.IndexStatus))
	i.keys(want.Name, want.PK, want.SK, got.KeySchema, t.AttributeDefinitions, IndexWrongKeys, IndexWrongKeyType)
	i.projection(want, got.Projection)
}

// projection compares what an index shows. Key attributes of the table and of the index are in it anyway.
func (i *inspection) projection(want Index, got *types.Projection) {
	if got == nil {
		got = &types.Projection{}
	}
	all := got.ProjectionType == types.ProjectionTypeAll
	free := []string{i.table.PK, i.table.SK, want.PK, want.SK}
	var missing, extra []string
	for _, name := range want.Project {
		if !all && !slices.Contains(got.NonKeyAttributes, name) && !slices.Contains(free, name) {
			missing = append(missing, name)
		}
	}
	for _, name := range got.NonKeyAttributes {
		if !want.All && !slices.Contains(want.Project, name) && !slices.Contains(free, name) {
			extra = append(extra, name)
		}
	}
	if want.All && !all {
		missing = append(missing, "all attributes")
	}
	i.expect(len(missing) == 0, want.Name, ProjectionMissing, strings.Join(missing, ", "), "an index without")
	if all && !want.All {
		extra = []string{"all attributes"}
	}
	i.expect(len(extra) == 0, want.Name, ProjectionTooWide, "an index without", strings.Join(extra, ", "))
}

func (i *inspection) ttl(got *types.TimeToLiveDescription) {
	on, attribute := false, ""
	if got != nil {
		on = got.TimeToLiveStatus == types.TimeToLiveStatusEnabled || got.TimeToLiveStatus == types.TimeToLiveStatusEnabling
		attribute = aws.ToString(got.AttributeName)
	}
	switch want := i.table.TTL; {
	case want == "":
		i.expect(!on, "", TTLUnexpected, "nothing that expires", "items that expire by "+attribute)
	case !on:
		i.expect(false, "", TTLOff, "items that expire by "+want, "none that expire")
	default:
		i.expect(attribute == want, "", TTLWrongAttribute, "items that expire by "+want, "by "+attribute)
	}
}

func (i *inspection) stream(t *types.TableDescription) {
	want := i.table.Stream
	if want == "" {
		return
	}
	got := t.StreamSpecification
	if got == nil || !aws.ToBool(got.StreamEnabled) {
		i.expect(false, "", StreamOff, "a stream of "+string(want), "none")
		return
	}
	enough := got.StreamViewType == types.StreamViewType(want) || got.StreamViewType == types.StreamViewTypeNewAndOldImages
	i.expect(enough, "", StreamWrongView, "a stream of "+string(want), "of "+string(got.StreamViewType))
}

func (i *inspection) recovery(got *types.ContinuousBackupsDescription) {
	want := fmt.Sprintf("point-in-time recovery over %d days", i.deployment.RecoveryDays)
	if got == nil {
		i.expect(false, "", RecoveryUnreadable, want, "an endpoint that cannot say")
		return
	}
	recovery := got.PointInTimeRecoveryDescription
	if recovery == nil || recovery.PointInTimeRecoveryStatus != types.PointInTimeRecoveryStatusEnabled {
		i.expect(false, "", RecoveryOff, want, "none")
		return
	}
	if days := aws.ToInt32(recovery.RecoveryPeriodInDays); days != 0 { // a table from before the period could be chosen has none, which is 35
		i.expect(int(days) >= i.deployment.RecoveryDays, "", RecoveryShort, want, fmt.Sprintf("over %d", days))
	}
}

// place compares where the table is, and where it is copied to.
func (i *inspection) place(t *types.TableDescription) {
	home := i.deployment.HomeRegion
	parsed, err := arn.Parse(aws.ToString(t.TableArn))
	if home != "" {
		i.expect(err == nil && parsed.Region == home, "", WrongRegion, home, parsed.Region)
	}
	switch strong := t.MultiRegionConsistency == types.MultiRegionConsistencyStrong; {
	case strong && i.deployment.Consistency != StrongConsistency:
		i.expect(false, "", WrongConsistency, "a table that can have transactions and TTL", "multi-Region strong consistency, which has neither")
	case !strong && i.deployment.Consistency == StrongConsistency:
		i.expect(false, "", WrongConsistency, "multi-Region strong consistency", "none, and it cannot be changed any more")
	}
	var copies []string
	for _, replica := range t.Replicas {
		if region := aws.ToString(replica.RegionName); region != home {
			copies = append(copies, region)
		}
	}
	for _, region := range i.deployment.Replicas {
		i.expect(slices.Contains(copies, region), "", ReplicaMissing, "a replica in "+region, "none")
	}
	for _, region := range copies {
		i.expect(slices.Contains(i.deployment.Replicas, region), "", ReplicaUnexpected, "no replica in "+region, "one, which must not be written")
	}
}

// mode compares how the table is run.
func (i *inspection) mode(t *types.TableDescription) {
	i.expect(i.deployment.Disposable || aws.ToBool(t.DeletionProtectionEnabled), "", Unprotected, "protection from deletion", "none")
	onDemand := t.BillingModeSummary != nil && t.BillingModeSummary.BillingMode == types.BillingModePayPerRequest
	i.expect(onDemand, "", Provisioned, "on-demand capacity", "provisioned capacity, whose indexes throttle the table when they are too small")
	if class := t.TableClassSummary; class != nil {
		i.expect(class.TableClass != types.TableClassStandardInfrequentAccess, "", RareAccess, "the standard class", "the class for rare access, whose writes cost more")
	}
}
