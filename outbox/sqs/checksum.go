package sqs

import (
	"crypto/md5"
	"encoding/hex"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// garbled says whether the queue holds another text than was sent, by the digest in its answer.
func garbled(entries []types.SendMessageBatchRequestEntry, taken types.SendMessageBatchResultEntry) bool {
	if taken.MD5OfMessageBody == nil {
		return false
	}
	for _, entry := range entries {
		if aws.ToString(entry.Id) == aws.ToString(taken.Id) {
			digest := md5.Sum([]byte(aws.ToString(entry.MessageBody)))
			return hex.EncodeToString(digest[:]) != *taken.MD5OfMessageBody
		}
	}
	return false
}
