package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
)

// A request carries a token, by which its listener's answer is known: "kube-ovn-probe TOKEN", or a page of that name over HTTP.
var requestPattern = regexp.MustCompile(`^(?:GET /)?kube-ovn-probe[ /](\d{1,15})\b`)

func requestLine(token int64) string { return fmt.Sprintf("kube-ovn-probe %d\n", token) }

// tokenOf reads the token of a request.
func tokenOf(request []byte) (token int64, isRequest bool) {
	match := requestPattern.FindSubmatch(request)
	if match == nil {
		return 0, false
	}
	token, err := strconv.ParseInt(string(match[1]), 10, 64)
	return token, err == nil
}

// answer is what a listener says to a request.
type answer struct {
	Token int64 `json:"token"`
	// Who says it, where many may have heard the request: the address of a member of a group.
	Member netip.Addr `json:"member,omitzero"`
	Seen   sighting   `json:"seen"`
}

const answerPrefix = "kube-ovn-probe saw "

// render writes an answer as a line, which over HTTP is a header.
func (a answer) render() string {
	text, _ := json.Marshal(a) // it has nothing that could not be written
	return answerPrefix + string(text)
}

// readAnswer finds the answer to a request in what came back.
func readAnswer(received []byte, token int64) (found answer, isAnswer bool) {
	_, rest, _ := bytes.Cut(received, []byte(answerPrefix))
	line, _, isWhole := bytes.Cut(rest, []byte("\n"))
	return found, isWhole && json.Unmarshal(line, &found) == nil && found.Token == token
}
