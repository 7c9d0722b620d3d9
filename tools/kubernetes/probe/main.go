// Kube-ovn-probe asks a network whether it carries packets, and tells what arrives.
//
// It is the small static program that the lab runs in network namespaces and that suites run as pods: one process serves, another
// asks, and both speak the JSON of question.go. What a kernel lacks is an outcome, not a failure; what its user got wrong is one
// sentence and exit code 2.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const usage = `kube-ovn-probe asks a network whether it carries packets, and tells what arrives.

  kube-ovn-probe serve [PORT]           answers TCP, HTTP, UDP, SCTP and multicast, both families, with what it saw; port 18080
  kube-ovn-probe ask < QUESTIONS.json   puts questions to the network; prints what became of them as JSON, in their order
  kube-ovn-probe rate ADDRESS PORT MS   sends a TCP stream to one that serves; prints how fast it arrived as JSON

A question names a target, a port, a protocol (ping, tcp, udp, http, sctp, dns, multicast), whether one that serves answers
(isOurs), and how long to wait (timeoutMs). It may have a DSCP to send with (dscp), a name for DNS (name), the own address that
multicast leaves from (source), a network namespace to ask from (netns), and listeners to hold open meanwhile (listeners).

  kube-ovn-probe serve 9000
  echo '[{"target":"10.16.0.5","port":9000,"protocol":"udp","dscp":46,"isOurs":true,"timeoutMs":3000}]' | kube-ovn-probe ask
  kube-ovn-probe rate fd00:10:16::5 9000 1000

ping needs CAP_NET_RAW, or a group in net.ipv4.ping_group_range; netns needs CAP_SYS_ADMIN; nothing else needs a right.
`

// defaultPort is outside of the range that Linux takes ports of clients from.
const defaultPort = "18080"

const maxPort = 65535

// maxInput bounds what is read of questions.
const maxInput = 64 << 20

// usageError is what the user got wrong.
type usageError struct{ sentence string }

func (e usageError) Error() string { return e.sentence }

func wrong(format string, values ...any) error {
	return usageError{fmt.Sprintf(format, values...)}
}

func main() {
	err := run(os.Args[1:])
	if err == nil {
		return
	}
	fmt.Fprintf(os.Stderr, "kube-ovn-probe: %v\n", err)
	if errors.As(err, &usageError{}) {
		os.Exit(2)
	}
	os.Exit(1)
}

func run(args []string) error {
	if len(args) == 0 {
		return wrong("say what to do: serve, ask or rate; --help explains")
	}
	switch command, args := args[0], args[1:]; {
	case command == "--help" || command == "-h":
		fmt.Print(usage)
		return nil
	case command == "serve" && len(args) < 2:
		return runServe(args)
	case command == "ask" && len(args) == 0:
		return runAsk()
	case command == "rate" && len(args) == 3:
		return runRate(args[0], args[1], args[2])
	default:
		return wrong("there is no command %q; --help explains", strings.Join(append([]string{command}, args...), " "))
	}
}

func runServe(args []string) error {
	port, err := parseNumber("port", append(args, defaultPort)[0], maxPort)
	if err != nil {
		return err
	}
	lines, err := serve(uint16(port))
	if err != nil {
		return err
	}
	fmt.Print(lines)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGINT, syscall.SIGTERM)
	<-ended
	return nil
}

func runAsk() error {
	input, err := io.ReadAll(io.LimitReader(os.Stdin, maxInput+1))
	if err != nil {
		return err
	}
	if len(input) > maxInput {
		return wrong("the questions have more than %d MB: ask in several runs", maxInput>>20)
	}
	questions, err := parseQuestions(input)
	if err != nil {
		return err
	}
	outcomes, err := askAll(questions)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(outcomes)
}

func runRate(address, port, duration string) error {
	to, err := netip.ParseAddr(address)
	if err != nil || !isPlain(to) {
		return wrong("%q is not an address of IPv4 or of IPv6 without zone", address)
	}
	toPort, err := parseNumber("port", port, maxPort)
	if err != nil {
		return err
	}
	ms, err := parseNumber("duration in ms", duration, maxTimeoutMs)
	if err != nil {
		return err
	}
	measured, err := askRate(netip.AddrPortFrom(to, uint16(toPort)), time.Duration(ms)*time.Millisecond)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(measured)
}

func parseNumber(what, text string, most int) (int, error) {
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 || number > most {
		return 0, wrong("the %s is a number from 1 to %d, not %q", what, most, text)
	}
	return number, nil
}
