package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// A datagram that was not answered is sent again twice in the time given.
const datagramsSent = 3

// exchange sends until something received is the answer.
func (a attempt) exchange(s *socket, send func() error, read func(received) (outcome, bool)) (outcome, error) {
	started := time.Now()
	buffer := make([]byte, 1<<12)
	for part := range datagramsSent {
		sent := time.Now()
		s.SetReadDeadline(started.Add(a.timeout() * time.Duration(part+1) / datagramsSent))
		err := send()
		for err == nil {
			var packet received
			if packet, err = s.receive(buffer); err != nil {
				break
			}
			if became, isAnswer := read(packet); isAnswer {
				became.Ms = reachedAfter(sent).Ms
				return became, nil
			}
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return outcome{}, err
		}
		if seen := findSighting(a.key()); seen != nil && a.Protocol == "multicast" {
			// That it arrived is all that is asked of a packet to a group; the member's answer may have no way back.
			became := reachedAfter(started)
			became.Seen = seen
			return became, nil
		}
	}
	return lost(silence), nil
}

func (a attempt) ping(s *socket) (outcome, error) {
	var request, reply icmp.Type = ipv6.ICMPTypeEchoRequest, ipv6.ICMPTypeEchoReply
	if s.is4 {
		request, reply = ipv4.ICMPTypeEcho, ipv4.ICMPTypeEchoReply
	}
	// Its token tells an answer, because the kernel chooses the identifier where it may not be chosen.
	data := binary.BigEndian.AppendUint64(make([]byte, 0, 56), uint64(a.token))[:56]
	echo := icmp.Message{Type: request, Body: &icmp.Echo{ID: int(a.token & 0xffff), Seq: 1, Data: data}}
	packet, err := echo.Marshal(nil) // the kernel fills in the checksum of IPv6
	if err != nil {
		return outcome{}, err
	}
	send := func() error { return s.sendTo(packet, netip.AddrPortFrom(a.Target, 0)) }
	return a.exchange(s, send, func(got received) (outcome, bool) {
		if s.is4 && s.kind == rawSocket && len(got.data) > 0 {
			got.data = got.data[min(int(got.data[0]&0x0f)*4, len(got.data)):]
		}
		message, err := icmp.ParseMessage(request.Protocol(), got.data)
		if err != nil || message.Type != reply || got.from.Addr() != a.Target {
			return outcome{}, false
		}
		body, isEcho := message.Body.(*icmp.Echo)
		isOurs := isEcho && len(body.Data) >= 8 && binary.BigEndian.Uint64(body.Data) == uint64(a.token)
		return outcome{Kind: "reached", AnswerTTL: got.TTL}, isOurs
	})
}

func (a attempt) askDatagram(s *socket) (outcome, error) {
	send := func() error { _, err := s.Write([]byte(requestLine(a.token))); return err }
	return a.exchange(s, send, func(got received) (outcome, bool) {
		told, isAnswer := readAnswer(got.data, a.token)
		return outcome{Kind: "reached", Seen: &told.Seen, AnswerTTL: got.TTL}, isAnswer
	})
}

// askGroup sends to the group; it is reached when the member with the target's address has seen it. Others may answer, too.
func (a attempt) askGroup(s *socket) (outcome, error) {
	index, err := interfaceIndex(a.Netns, a.Source)
	if err == nil {
		err = s.sendToGroupsBy(index, a.Source)
	}
	if err != nil {
		return outcome{}, err
	}
	group := netip.AddrPortFrom(groups[s.is4], a.Port)
	send := func() error { return s.sendTo([]byte(requestLine(a.token)), group) }
	return a.exchange(s, send, func(got received) (outcome, bool) {
		told, isAnswer := readAnswer(got.data, a.token)
		return outcome{Kind: "reached", Seen: &told.Seen}, isAnswer && told.Member == a.Target
	})
}

func (a attempt) askName(s *socket) (outcome, error) {
	id, wanted := uint16(a.token), dnsmessage.TypeAAAA
	if s.is4 {
		wanted = dnsmessage.TypeA
	}
	name, err := dnsmessage.NewName(strings.TrimSuffix(a.Name, ".") + ".")
	if err != nil {
		return outcome{}, err
	}
	query := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: id, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: name, Type: wanted, Class: dnsmessage.ClassINET}},
	}
	packet, err := query.Pack()
	if err != nil {
		return outcome{}, err
	}
	send := func() error { _, err := s.Write(packet); return err }
	return a.exchange(s, send, func(got received) (outcome, bool) {
		var reply dnsmessage.Message
		if reply.Unpack(got.data) != nil || !reply.Response || reply.ID != id {
			return outcome{}, false
		}
		if reply.RCode != dnsmessage.RCodeSuccess {
			return lost(fmt.Sprintf("DNS answered with code %d", reply.RCode)), true
		}
		return outcome{Kind: "reached", Detail: strings.Join(addressesIn(reply), " ")}, true
	})
}

func addressesIn(reply dnsmessage.Message) (addresses []string) {
	for _, record := range reply.Answers {
		switch body := record.Body.(type) {
		case *dnsmessage.AResource:
			addresses = append(addresses, netip.AddrFrom4(body.A).String())
		case *dnsmessage.AAAAResource:
			addresses = append(addresses, netip.AddrFrom16(body.AAAA).String())
		}
	}
	return addresses
}
