package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"regexp"
	"strconv"
	"time"
)

// rate is how fast a stream arrived.
type rate struct {
	Mbps  float64 `json:"mbps"`
	Bytes int64   `json:"bytes"`
	Ms    float64 `json:"ms"`
}

// A stream whose first line is this is counted for so many ms, and its sender told how much came.
var ratePattern = regexp.MustCompile(`^kube-ovn-probe-rate (\d{1,6})\n$`)

// patience is how long a connection, and the count after its time, may be underway on a machine with other things to do.
const patience = 30 * time.Second

func rateRequest(line []byte) (duration time.Duration, isRate bool) {
	match := ratePattern.FindSubmatch(line)
	if match == nil {
		return 0, false
	}
	ms, err := strconv.Atoi(string(match[1]))
	return time.Duration(ms) * time.Millisecond, err == nil && ms <= maxTimeoutMs
}

// countStream counts what a stream brings for a time, and says to its sender how much that was.
func (s *socket) countStream(stream *bufio.Reader, duration time.Duration) {
	started := time.Now()
	s.SetDeadline(started.Add(duration))
	bytes, _ := io.Copy(io.Discard, stream)
	ms := float64(time.Since(started).Microseconds()) / 1000
	s.SetDeadline(time.Now().Add(patience))
	json.NewEncoder(s).Encode(rate{float64(bytes) * 8 / 1000 / ms, bytes, ms})
	// What is still underway would have the kernel refuse it, and the answer with it.
	io.Copy(io.Discard, stream)
}

// askRate sends a stream to one that serves as fast as it takes it, and returns what arrived by its count.
func askRate(to netip.AddrPort, duration time.Duration) (measured rate, err error) {
	s, err := openSocket("", to.Addr(), tcpSocket)
	if err != nil {
		return measured, err
	}
	defer s.Close()
	if err := s.connect(to, time.Now().Add(patience)); err != nil {
		return measured, fmt.Errorf("no connection to %s: %s", to, nameOf(err))
	}
	s.SetDeadline(time.Now().Add(duration))
	fmt.Fprintf(s, "kube-ovn-probe-rate %d\n", duration.Milliseconds())
	for chunk := make([]byte, 1<<16); err == nil; {
		_, err = s.Write(chunk)
	}
	s.SetDeadline(time.Now().Add(patience))
	if err := json.NewDecoder(io.LimitReader(s, maxRequest)).Decode(&measured); err != nil {
		return measured, fmt.Errorf("%s does not count what it is sent: %s", to, nameOf(err))
	}
	return measured, nil
}
