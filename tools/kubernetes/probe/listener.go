package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// So many connections are held by a listener at once; more wait in the kernel.
	maxConnections = 1024
	// So long a connection may be silent.
	maxSilence = 10 * time.Second
	// So long a line or a datagram of a request may be; what is longer is none.
	maxRequest = 2048
)

// groups, by whether they are of IPv4, are of the administratively scoped ranges; nothing else uses them here (RFC 2365, RFC 4291).
var groups = map[bool]netip.Addr{true: netip.MustParseAddr("239.255.77.77"), false: netip.MustParseAddr("ff15::7777")}

// sightings has what listeners of this process saw of its own requests, so that a lost answer is told from a lost request. A request
// of nobody here is not in it, so that strangers can not fill the memory.
var sightings sync.Map

// requestKey is of a request as one listener sees it; the member of a group is told from others, which see it, too.
type requestKey struct {
	token  int64
	member netip.Addr
}

func expectSighting(key requestKey) { sightings.Store(key, sighting{}) }

func findSighting(key requestKey) *sighting {
	found, _ := sightings.Load(key)
	if seen, _ := found.(sighting); seen.Source.IsValid() {
		return &seen
	}
	return nil
}

// listen waits at a place until the process ends, and answers every request with what it saw of it.
func listen(at place) error {
	s, err := openSocket(at.Netns, at.Address, kinds[at.Protocol])
	if err != nil {
		return err
	}
	if err := s.take(at); err != nil {
		s.Close()
		return err
	}
	switch at.Protocol {
	case "multicast":
		go s.answerDatagrams(at.Address)
	case "udp":
		go s.answerDatagrams(netip.Addr{})
	default:
		go s.answerConnections()
	}
	return nil
}

// take binds a socket to a place. A port of UDP is shared by consent only: members of groups have it, and a listener at all addresses.
func (s *socket) take(at place) (err error) {
	address := at.Address
	if at.Protocol != "udp" || address.IsUnspecified() {
		err = unix.SetsockoptInt(s.descriptor, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	}
	switch at.Protocol {
	case "multicast":
		index, unknown := interfaceIndex(at.Netns, address)
		address = groups[s.is4]
		err = errors.Join(err, unknown, s.join(address, index))
	case "tcp":
		err = errors.Join(err, unix.SetsockoptInt(s.descriptor, unix.IPPROTO_TCP, unix.TCP_SAVE_SYN, 1))
	}
	err = errors.Join(err, unix.Bind(s.descriptor, socketAddress(netip.AddrPortFrom(address, at.Port))))
	if err == nil && s.kind.socketType == unix.SOCK_STREAM {
		err = unix.Listen(s.descriptor, 512)
	}
	return err
}

func (s *socket) answerDatagrams(member netip.Addr) {
	buffer := make([]byte, maxRequest)
	for {
		got, err := s.receive(buffer)
		token, isRequest := tokenOf(got.data)
		// The kernel tells of refused answers by errors, too.
		if err != nil || !isRequest {
			continue
		}
		told := answer{token, member, sighting{got.from.Addr(), got.from.Port(), got.at, got.marks}}
		sightings.CompareAndSwap(requestKey{token, member}, sighting{}, told.Seen)
		// An answer that the kernel refuses is one that does not arrive: who asked tells.
		s.sendTo([]byte(told.render()+"\n"), got.from)
	}
}

func (s *socket) answerConnections() {
	free := make(chan struct{}, maxConnections)
	for {
		free <- struct{}{}
		connection, from, err := s.accept()
		if err != nil {
			// It is gone, or there is no descriptor for now.
			time.Sleep(10 * time.Millisecond)
			<-free
			continue
		}
		go func() {
			connection.answerStream(sighting{from.Addr(), from.Port(), connection.ownAddress(), connection.marksOfSYN()})
			connection.Close()
			<-free
		}()
	}
}

// answerStream answers lines with a token, pages, and what wants to be counted, until the peer has closed or is silent for long.
func (s *socket) answerStream(seen sighting) {
	reader := bufio.NewReaderSize(s, maxRequest)
	told, isPage := "", false
	for {
		s.SetDeadline(time.Now().Add(maxSilence))
		line, err := reader.ReadSlice('\n')
		if err != nil {
			return
		}
		if duration, isRate := rateRequest(line); isRate {
			s.countStream(reader, duration)
			return
		}
		isPage = isPage || bytes.HasPrefix(line, []byte("GET "))
		if token, isRequest := tokenOf(line); isRequest {
			told = answer{Token: token, Seen: seen}.render()
			sightings.CompareAndSwap(requestKey{token: token}, sighting{}, seen)
			if !isPage {
				fmt.Fprintf(s, "%s\n", told)
			}
		}
		if isPage && len(bytes.TrimSpace(line)) == 0 {
			page := seen.Source.String() + "\n"
			fmt.Fprintf(s, "HTTP/1.0 200 OK\r\nKube-Ovn-Probe: %s\r\nContent-Length: %d\r\n\r\n%s", told, len(page), page)
			told, isPage = "", false
		}
	}
}

// serve listens by every protocol at all addresses, and as a member of the groups on every link, as far as the kernel goes along.
// It returns a line for each listener, and fails if it can not have the port.
func serve(port uint16) (string, error) {
	var places []place
	for _, everywhere := range []netip.Addr{netip.IPv4Unspecified(), netip.IPv6Unspecified()} {
		for _, protocol := range []string{"tcp", "udp", "sctp"} {
			places = append(places, place{Address: everywhere, Port: port, Protocol: protocol})
		}
	}
	addresses, err := net.InterfaceAddrs()
	for _, own := range addresses {
		prefix, err := netip.ParsePrefix(own.String())
		if address := prefix.Addr(); err == nil && !address.IsLoopback() && !address.IsLinkLocalUnicast() {
			places = append(places, place{Address: address, Port: port, Protocol: "multicast"})
		}
	}
	var lines strings.Builder
	for _, at := range places {
		state, err := "listening", listen(at)
		if errors.Is(err, unix.EADDRINUSE) || errors.Is(err, os.ErrPermission) {
			return "", wrong("can not have port %d of %s at %s (%s): choose another", port, at.Protocol, at.Address, nameOf(err))
		}
		if missing, isMissing := skipOf(err, at.Protocol); isMissing {
			state = missing.Reason
		} else if err != nil {
			state = nameOf(err)
		}
		fmt.Fprintf(&lines, "%s %s port %d: %s\n", at.Protocol, at.Address, port, state)
	}
	return lines.String(), err
}
