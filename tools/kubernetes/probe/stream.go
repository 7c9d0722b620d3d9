package main

import (
	"bytes"
	"fmt"
	"regexp"
	"time"
)

// So much of an answer is read at most.
const maxAnswer = 1 << 14

// converse sends a request and reads until what ends its answer, until the peer has closed, or until the time is up.
func (a attempt) converse(s *socket, request, end string) []byte {
	s.SetDeadline(time.Now().Add(a.timeout()))
	fmt.Fprint(s, request)
	var text []byte
	for piece := make([]byte, 1<<10); len(text) < maxAnswer && !bytes.Contains(text, []byte(end)); {
		length, err := s.Read(piece)
		text = append(text, piece[:length]...)
		if err != nil {
			break
		}
	}
	return text
}

// askStream asks a listener of ours what it saw of the connection.
func (a attempt) askStream(s *socket, connected outcome) outcome {
	text := a.converse(s, requestLine(a.token), "\n")
	told, isAnswer := readAnswer(text, a.token)
	switch {
	case isAnswer:
		connected.Seen = &told.Seen
		return connected
	case len(text) == 0:
		return lost("connected, no answer")
	default:
		return lost("connected, the answer is not ours")
	}
}

var statusPattern = regexp.MustCompile(`^HTTP/1\.\d ([1-5]\d\d)`)

// fetchPage asks for a page: a listener of ours for one that tells what it saw, others for the first they have.
func (a attempt) fetchPage(s *socket, connected outcome) outcome {
	page, end := "", "\r\n"
	if a.IsOurs {
		page, end = fmt.Sprintf("kube-ovn-probe/%d", a.token), "\r\n\r\n"
	}
	text := a.converse(s, fmt.Sprintf("GET /%s HTTP/1.0\r\nHost: probe\r\n\r\n", page), end)
	match := statusPattern.FindSubmatch(text)
	if match == nil {
		return lost("connected, no answer")
	}
	connected.Detail = "HTTP " + string(match[1])
	if told, isAnswer := readAnswer(text, a.token); isAnswer {
		connected.Seen = &told.Seen
	}
	if class := match[1][0]; class == '2' || class == '3' {
		return connected
	}
	return lost(connected.Detail)
}
