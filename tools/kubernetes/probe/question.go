package main

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"regexp"
	"slices"
	"time"
)

// question is one thing to find out about the network.
type question struct {
	// Path of the network namespace that it is asked from; the process's own if empty.
	Netns string `json:"netns"`
	// The address that multicast leaves from.
	Source netip.Addr `json:"source"`
	Target netip.Addr `json:"target"`
	// Without meaning for ping.
	Port     uint16 `json:"port"`
	Protocol string `json:"protocol"`
	// Whether a listener of ours answers, so that more than a connection can be asked for.
	IsOurs bool `json:"isOurs"`
	// Where it may arrive: they listen while it is asked. If a port is taken, it is asked of whoever has that, who is not ours.
	Listeners []place `json:"listeners"`
	// What its packets are marked with.
	DSCP int `json:"dscp"`
	// What DNS is asked for; if it is left out, a name that every cluster has.
	Name      string `json:"name"`
	TimeoutMs int    `json:"timeoutMs"`
}

func (q question) timeout() time.Duration { return time.Duration(q.TimeoutMs) * time.Millisecond }

// place is where a listener waits.
type place struct {
	Netns   string     `json:"netns"`
	Address netip.Addr `json:"address"`
	Port    uint16     `json:"port"`
	// tcp, udp, sctp, or multicast: a member of the group of the address's family, on the link that has the address.
	Protocol string `json:"protocol"`
}

// outcome is what became of a question.
type outcome struct {
	// reached, lost or skipped.
	Kind string `json:"kind"`
	// From the last request to its answer.
	Ms     float64 `json:"ms,omitzero"`
	Reason string  `json:"reason,omitempty"`
	// What the listener saw, where it is ours.
	Seen *sighting `json:"seen,omitempty"`
	// Hops that were left of the answer.
	AnswerTTL *int   `json:"answerTtl,omitempty"`
	Detail    string `json:"detail,omitempty"`
}

// sighting is what a listener saw of a request.
type sighting struct {
	Source     netip.Addr `json:"source"`
	SourcePort uint16     `json:"sourcePort"`
	// The address at which it arrived: which of several listeners it was led to.
	At netip.Addr `json:"at,omitzero"`
	marks
}

// marks are what an IP header says beside addresses, as far as the kernel tells.
type marks struct {
	TTL  *int `json:"ttl,omitempty"`
	DSCP *int `json:"dscp,omitempty"`
}

const maxTimeoutMs = 600_000

func lost(reason string) outcome { return outcome{Kind: "lost", Reason: reason} }

func reachedAfter(since time.Time) outcome {
	return outcome{Kind: "reached", Ms: float64(time.Since(since).Nanoseconds()) / 1e6}
}

// parseQuestions reads a list of questions, strictly: what is not understood would be answered wrongly.
func parseQuestions(input []byte) ([]question, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(input, &list); err != nil {
		return nil, wrong("the input is not a JSON list of questions: %v", err)
	}
	questions := make([]question, len(list))
	for index, text := range list {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		questions[index].Name = "kubernetes.default.svc.cluster.local"
		if err := decoder.Decode(&questions[index]); err != nil {
			return nil, wrong("question %d is not understood: %v", index+1, err)
		}
		if cure := cureOf(questions[index]); cure != "" {
			return nil, wrong("question %d is not understood: %s", index+1, cure)
		}
	}
	return questions, nil
}

var namePattern = regexp.MustCompile(`^([^.]{1,63}\.)*[^.]{1,63}\.?$`)

// cureOf says what must be otherwise in a question, if anything.
func cureOf(q question) string {
	switch {
	case !isPlain(q.Target):
		return "target must be an address without zone"
	case kinds[q.Protocol] == kind{}:
		return "protocol must be ping, tcp, udp, http, sctp, dns or multicast"
	case q.Protocol == "multicast" && (!isPlain(q.Source) || q.Source.Is4() != q.Target.Is4()):
		return "source must be an address of the target's family, from which multicast leaves"
	case q.Protocol == "dns" && (len(q.Name) > 253 || !namePattern.MatchString(q.Name)):
		return "name must be at most 253 characters of labels of at most 63"
	case q.DSCP < 0 || q.DSCP > 63:
		return "dscp must be from 0 to 63"
	case q.TimeoutMs < 1 || q.TimeoutMs > maxTimeoutMs:
		return "timeoutMs must be from 1 to 600000"
	}
	for _, at := range q.Listeners {
		if !isPlain(at.Address) || !slices.Contains([]string{"tcp", "udp", "sctp", "multicast"}, at.Protocol) {
			return "listeners must have an address without zone and protocol tcp, udp, sctp or multicast"
		}
	}
	return ""
}

func isPlain(address netip.Addr) bool {
	return address.IsValid() && address.Zone() == "" && !address.Is4In6()
}
