package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// So many questions are under way at once; more would measure this process.
const maxAtOnce = 256

// attempt is a question that is being asked.
type attempt struct {
	question
	token int64
}

// askAll opens the listeners that questions want, asks all, and returns what became of each. If one can not be put to the network,
// because its namespace is gone for example, all fail: its outcome would be a claim about the network.
func askAll(questions []question) ([]outcome, error) {
	opened := map[place]error{}
	for index := range questions {
		q := &questions[index]
		for _, at := range q.Listeners {
			err, isKnown := opened[at]
			if !isKnown {
				err = listen(at)
				opened[at] = err
			}
			_, isMissing := skipOf(err, at.Protocol)
			if err != nil && !isMissing && !errors.Is(err, unix.EADDRINUSE) && !errors.Is(err, unix.EADDRNOTAVAIL) {
				return nil, fmt.Errorf("can not listen at %s port %d of %s: %w", at.Address, at.Port, at.Protocol, err)
			}
			q.IsOurs = q.IsOurs && err == nil
		}
	}
	outcomes, failures := make([]outcome, len(questions)), make([]error, len(questions))
	free := make(chan struct{}, maxAtOnce)
	var asked sync.WaitGroup
	for index, q := range questions {
		free <- struct{}{}
		asked.Go(func() {
			outcomes[index], failures[index] = attempt{q, rand.Int64N(1 << 48)}.run()
			<-free
		})
	}
	asked.Wait()
	for _, failure := range failures {
		if failure != nil {
			return nil, failure
		}
	}
	return outcomes, nil
}

// run asks, and turns what the kernel says into an outcome.
func (a attempt) run() (outcome, error) {
	expectSighting(a.key())
	became, err := a.ask()
	if skipped, isMissing := skipOf(err, a.Protocol); isMissing {
		return skipped, nil
	}
	if errors.As(err, &openError{}) {
		return outcome{}, fmt.Errorf("can not ask %s by %s: %w", a.Target, a.Protocol, err)
	}
	if err != nil {
		became = lost(nameOf(err))
	}
	if seen := findSighting(a.key()); seen != nil && became.Kind == "lost" {
		became.Seen = seen
		if became.Reason == silence {
			became.Reason = "the request arrived, its answer did not"
		}
	}
	return became, nil
}

// key is that of what the listener at the target notes.
func (a attempt) key() requestKey {
	if a.Protocol == "multicast" {
		return requestKey{a.token, a.Target}
	}
	return requestKey{token: a.token}
}

func (a attempt) ask() (outcome, error) {
	s, err := openSocket(a.Netns, a.Target, kinds[a.Protocol])
	if a.Protocol == "ping" && errors.Is(err, unix.EPERM) {
		s, err = openSocket(a.Netns, a.Target, echoSocket)
	}
	if err != nil {
		return outcome{}, err
	}
	defer s.Close()
	if err := s.set(unix.IP_TOS, unix.IPV6_TCLASS, a.DSCP<<2); err != nil {
		return outcome{}, err
	}
	switch a.Protocol {
	case "ping":
		return a.ping(s)
	case "multicast":
		return a.askGroup(s)
	}
	started := time.Now()
	if err := s.connect(netip.AddrPortFrom(a.Target, a.Port), started.Add(a.timeout())); err != nil {
		return outcome{}, err
	}
	connected := reachedAfter(started)
	switch {
	case a.Protocol == "udp":
		return a.askDatagram(s)
	case a.Protocol == "dns":
		return a.askName(s)
	case a.Protocol == "http":
		return a.fetchPage(s, connected), nil
	case a.IsOurs:
		return a.askStream(s, connected), nil
	default:
		return connected, nil
	}
}

const silence = "no answer"

// nameOf names what the kernel says.
func nameOf(err error) string {
	var number unix.Errno
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return silence
	case errors.As(err, &number):
		return unix.ErrnoName(number)
	case errors.Is(err, io.EOF):
		return "the peer has closed"
	}
	return err.Error()
}

// skipOf makes an outcome of a socket that there can not be here.
func skipOf(err error, protocol string) (outcome, bool) {
	number := unix.Errno(0)
	if !errors.As(err, &openError{}) || !errors.As(err, &number) {
		return outcome{}, false
	}
	switch number {
	case unix.EPROTONOSUPPORT, unix.ESOCKTNOSUPPORT, unix.EAFNOSUPPORT:
		return outcome{Kind: "skipped", Reason: fmt.Sprintf("the kernel has no %s (%s)", protocol, nameOf(number))}, true
	case unix.EACCES:
		needs := "ping needs CAP_NET_RAW, or a group in net.ipv4.ping_group_range"
		return outcome{Kind: "skipped", Reason: needs}, protocol == "ping"
	}
	return outcome{}, false
}
