package main

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kind is a type of socket, and its protocol in each family.
type kind struct{ socketType, protocol4, protocol6 int }

var (
	tcpSocket = kind{unix.SOCK_STREAM, unix.IPPROTO_TCP, unix.IPPROTO_TCP}
	udpSocket = kind{unix.SOCK_DGRAM, unix.IPPROTO_UDP, unix.IPPROTO_UDP}
	rawSocket = kind{unix.SOCK_RAW, unix.IPPROTO_ICMP, unix.IPPROTO_ICMPV6}
	// What net.ipv4.ping_group_range allows to those who may not open the former.
	echoSocket = kind{unix.SOCK_DGRAM, unix.IPPROTO_ICMP, unix.IPPROTO_ICMPV6}
)

// kinds are those that the protocols of questions and listeners take.
var kinds = map[string]kind{
	"ping":      rawSocket,
	"tcp":       tcpSocket,
	"http":      tcpSocket,
	"sctp":      {unix.SOCK_STREAM, unix.IPPROTO_SCTP, unix.IPPROTO_SCTP},
	"udp":       udpSocket,
	"dns":       udpSocket,
	"multicast": udpSocket,
}

// socket is a socket of any network namespace. Those of package net have no SCTP, and share ports with members of groups.
type socket struct {
	*os.File
	raw        syscall.RawConn
	descriptor int
	kind       kind
	is4        bool
}

// openError is why there is no socket, which says nothing about the network.
type openError struct{ error }

func (e openError) Unwrap() error { return e.error }

// openSocket opens a socket of an address's family in a namespace.
func openSocket(netns string, address netip.Addr, of kind) (*socket, error) {
	domain, protocol := unix.AF_INET6, of.protocol6
	if address.Is4() {
		domain, protocol = unix.AF_INET, of.protocol4
	}
	var descriptor int
	err := inNamespace(netns, func() (err error) {
		descriptor, err = unix.Socket(domain, of.socketType|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, protocol)
		return err
	})
	if err != nil {
		return nil, openError{err}
	}
	s := newSocket(descriptor, of, address.Is4())
	if !s.is4 && of.socketType != unix.SOCK_RAW {
		err = unix.SetsockoptInt(descriptor, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1)
	}
	if of.socketType != unix.SOCK_STREAM {
		err = errors.Join(err, s.set(unix.IP_RECVTTL, unix.IPV6_RECVHOPLIMIT, 1), s.set(unix.IP_RECVTOS, unix.IPV6_RECVTCLASS, 1),
			s.set(unix.IP_PKTINFO, unix.IPV6_RECVPKTINFO, 1))
	}
	if err != nil {
		s.Close()
		return nil, openError{err}
	}
	return s, nil
}

func newSocket(descriptor int, of kind, is4 bool) *socket {
	file := os.NewFile(uintptr(descriptor), "socket")
	raw, _ := file.SyscallConn() // fails for a nil file only
	return &socket{file, raw, descriptor, of, is4}
}

// inNamespace acts in a network namespace. Its thread is never given back, so that nothing else ever runs there.
func inNamespace(path string, act func() error) error {
	if path == "" {
		return act()
	}
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		namespace, err := os.Open(path)
		if err == nil {
			defer namespace.Close()
			err = os.NewSyscallError("setns "+path, unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET))
		}
		if err == nil {
			err = act()
		}
		result <- err
	}()
	return <-result
}

// interfaceIndex finds the interface of a namespace that has an address; 0 if none has.
func interfaceIndex(netns string, address netip.Addr) (index int, err error) {
	return index, inNamespace(netns, func() error {
		links, err := net.Interfaces()
		for _, link := range links {
			addresses, _ := link.Addrs()
			for _, own := range addresses {
				if prefix, err := netip.ParsePrefix(own.String()); err == nil && prefix.Addr() == address {
					index = link.Index
				}
			}
		}
		return err
	})
}

// set sets an option of IP that each family has a number for.
func (s *socket) set(name4, name6, value int) error {
	if s.is4 {
		return unix.SetsockoptInt(s.descriptor, unix.IPPROTO_IP, name4, value)
	}
	return unix.SetsockoptInt(s.descriptor, unix.IPPROTO_IPV6, name6, value)
}

// sendToGroupsBy chooses the link by which packets to a group leave, and lets them go over routers.
func (s *socket) sendToGroupsBy(index int, source netip.Addr) error {
	err := s.set(unix.IP_MULTICAST_TTL, unix.IPV6_MULTICAST_HOPS, 4)
	if s.is4 {
		link := unix.IPMreqn{Address: source.As4(), Ifindex: int32(index)}
		return errors.Join(err, unix.SetsockoptIPMreqn(s.descriptor, unix.IPPROTO_IP, unix.IP_MULTICAST_IF, &link))
	}
	return errors.Join(err, unix.SetsockoptInt(s.descriptor, unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_IF, index))
}

// join makes the socket a member of a group on a link.
func (s *socket) join(group netip.Addr, index int) error {
	if s.is4 {
		member := unix.IPMreqn{Multiaddr: group.As4(), Ifindex: int32(index)}
		return unix.SetsockoptIPMreqn(s.descriptor, unix.IPPROTO_IP, unix.IP_ADD_MEMBERSHIP, &member)
	}
	member := unix.IPv6Mreq{Multiaddr: group.As16(), Interface: uint32(index)}
	return unix.SetsockoptIPv6Mreq(s.descriptor, unix.IPPROTO_IPV6, unix.IPV6_JOIN_GROUP, &member)
}

// connect connects, which for a stream takes until the deadline at most.
func (s *socket) connect(to netip.AddrPort, deadline time.Time) error {
	err := unix.Connect(s.descriptor, socketAddress(to))
	if err != unix.EINPROGRESS {
		return err
	}
	s.SetWriteDeadline(deadline)
	timedOut := s.raw.Write(func(uintptr) bool {
		var number int
		if number, err = unix.GetsockoptInt(s.descriptor, unix.SOL_SOCKET, unix.SO_ERROR); err == nil && number != 0 {
			err = unix.Errno(number)
		}
		_, unconnected := unix.Getpeername(s.descriptor)
		return err != nil || unconnected == nil
	})
	return errors.Join(timedOut, err)
}

// accept waits for a connection.
func (s *socket) accept() (connection *socket, from netip.AddrPort, err error) {
	var descriptor int
	var peer unix.Sockaddr
	closed := s.raw.Read(func(uintptr) bool {
		descriptor, peer, err = unix.Accept4(s.descriptor, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		return err != unix.EAGAIN
	})
	if err = errors.Join(closed, err); err != nil {
		return nil, from, err
	}
	return newSocket(descriptor, s.kind, s.is4), addressOf(peer), nil
}

// ownAddress is that at which a connection has arrived.
func (s *socket) ownAddress() netip.Addr {
	name, err := unix.Getsockname(s.descriptor)
	if err != nil {
		return netip.Addr{}
	}
	return addressOf(name).Addr()
}

// sendTo sends a datagram, or drops it as the network might.
func (s *socket) sendTo(data []byte, to netip.AddrPort) error {
	return unix.Sendto(s.descriptor, data, 0, socketAddress(to))
}

// received is a datagram, and how it arrived.
type received struct {
	data []byte
	from netip.AddrPort
	// Where it was sent to.
	at netip.Addr
	marks
}

// receive waits for a datagram until the read deadline. What of it the buffer does not hold is lost.
func (s *socket) receive(buffer []byte) (got received, err error) {
	var length, controlLength int
	var sender unix.Sockaddr
	control := make([]byte, 128)
	ended := s.raw.Read(func(uintptr) bool {
		length, controlLength, _, sender, err = unix.Recvmsg(s.descriptor, buffer, control, 0)
		return err != unix.EAGAIN
	})
	if err = errors.Join(ended, err); err != nil {
		return got, err
	}
	got.data, got.from = buffer[:length], addressOf(sender)
	messages, _ := unix.ParseSocketControlMessage(control[:controlLength])
	for _, message := range messages {
		got.note(message)
	}
	return got, nil
}

// note takes what a control message says of a packet (ip(7), ipv6(7)): IP_TOS is a byte, addresses are at the end of what IPv4 says of
// them and at the beginning of what IPv6 does, all others are int.
func (m *received) note(message unix.SocketControlMessage) {
	switch [2]int32{message.Header.Level, message.Header.Type} {
	case [2]int32{unix.IPPROTO_IP, unix.IP_PKTINFO}:
		m.at, _ = netip.AddrFromSlice(message.Data[8:12])
		return
	case [2]int32{unix.IPPROTO_IPV6, unix.IPV6_PKTINFO}:
		m.at, _ = netip.AddrFromSlice(message.Data[:16])
		return
	}
	value := int(message.Data[0])
	if len(message.Data) >= 4 {
		value = int(binary.NativeEndian.Uint32(message.Data))
	}
	switch [2]int32{message.Header.Level, message.Header.Type} {
	case [2]int32{unix.IPPROTO_IP, unix.IP_TTL}, [2]int32{unix.IPPROTO_IPV6, unix.IPV6_HOPLIMIT}:
		m.TTL = new(value)
	case [2]int32{unix.IPPROTO_IP, unix.IP_TOS}, [2]int32{unix.IPPROTO_IPV6, unix.IPV6_TCLASS}:
		m.DSCP = new(value >> 2)
	}
}

// marksOfSYN tells how the first packet of an accepted connection arrived, which Linux keeps where TCP_SAVE_SYN asks it to.
func (s *socket) marksOfSYN() marks {
	var header [256]byte
	length := uint32(len(header))
	_, _, failure := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(s.descriptor), unix.IPPROTO_TCP, unix.TCP_SAVED_SYN,
		uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&length)), 0)
	switch {
	case failure != 0 || length < 20:
		return marks{}
	case s.is4:
		return marks{TTL: new(int(header[8])), DSCP: new(int(header[1] >> 2))}
	default:
		return marks{TTL: new(int(header[7])), DSCP: new(int(binary.BigEndian.Uint16(header[:]) >> 6 & 0x3f))}
	}
}

func socketAddress(at netip.AddrPort) unix.Sockaddr {
	if at.Addr().Is4() {
		return &unix.SockaddrInet4{Addr: at.Addr().As4(), Port: int(at.Port())}
	}
	return &unix.SockaddrInet6{Addr: at.Addr().As16(), Port: int(at.Port())}
}

func addressOf(from unix.Sockaddr) netip.AddrPort {
	switch from := from.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(from.Addr), uint16(from.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(from.Addr), uint16(from.Port))
	}
	return netip.AddrPort{}
}
