import { expect, it } from 'vitest'
import { announceAddresses } from './announcement.ts'

/** What Linux 6.18 sends for 10.16.0.5 and its link-local address with arp_notify and ndisc_notify, as an AF_PACKET socket got it. */
const captured = {
  arp: 'ffffffffffff0a580a100005080600010800060400010a580a1000050a1000050000000000000a100005',
  ofLinkLocal:
    '3333000000010a580a10000586dd6000000000203afffe8000000000000008580afffe100005ff020000000000000000000000000001' +
    '8800225720000000fe8000000000000008580afffe10000502010a580a100005',
}

/** The same about fd00:10:16::5: the target differs, and the checksum (by RFC 1624, 3519). */
const ofGlobal = captured.ofLinkLocal
  .replace('20000000fe8000000000000008580afffe100005', '20000000fd000010001600000000000000000005')
  .replace('88002257', '8800')

it('announces IPv4 addresses and its link-local one as the kernel does', () => {
  const ips = ['10.16.0.5', 'fe80::858:aff:fe10:5']
  expect(sent('0A:58:0a:10:00:05', ips)).toEqual([
    [7, captured.arp],
    [7, captured.ofLinkLocal],
  ])
})

it('announces other IPv6 addresses from the link-local one, by which routers of OVN learn nothing', () => {
  const [[, frame] = [0, '']] = sent('0a:58:0a:10:00:05', ['fd00:10:16::5'])
  const withoutChecksum = frame.slice(0, 112) + frame.slice(116)
  expect(withoutChecksum).toBe(ofGlobal)
  expect(frame.slice(112, 116)).toBe('3519')
})

it('refuses what is no address', () => {
  expect(() => sent('0a:58:0a:10:00:05', ['10.16.0.5/16'])).toThrow('invalid IP address')
  expect(() => sent('none', ['10.16.0.5'])).toThrow('invalid MAC address')
})

function sent(mac: string, ips: readonly string[]): [number, string][] {
  const frames: [number, string][] = []
  announceAddresses(
    {
      sendFrames(index, list) {
        for (const frame of list) frames.push([index, frame.toString('hex')])
      },
    },
    { index: 7, mac, ips },
  )
  return frames
}
