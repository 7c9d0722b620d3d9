import { parseIp } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import { UsageError } from '../errors.ts'
import { parseTraceRequest } from './request.ts'

const v4 = parseIp('10.16.0.7')
const v6 = parseIp('fd00:10:16::7')
const web = { kind: 'pod', namespace: 'shop', name: 'web' }

describe('parseTraceRequest', () => {
  it.each([
    ['shop/web 10.16.0.7 icmp', { source: web, target: v4, protocol: { kind: 'icmp' } }],
    [
      'web fd00:10:16::7 tcp 80',
      { source: { ...web, namespace: 'default' }, target: v6, protocol: { kind: 'tcp', port: 80 } },
    ],
    [
      'shop/web 10.16.0.7 0A:58:0a:10:00:07 udp 53',
      { source: web, target: v4, mac: '0a:58:0a:10:00:07', protocol: { kind: 'udp', port: 53 } },
    ],
    [
      'shop/web 10.16.0.7 a:58:A:10:0:7 icmp',
      { source: web, target: v4, mac: '0a:58:0a:10:00:07', protocol: { kind: 'icmp' } },
    ],
    [
      'node//n1 10.16.0.7 arp',
      { source: { kind: 'node', name: 'n1' }, target: v4, protocol: { kind: 'arp', operation: 'request' } },
    ],
    [
      'shop/web 10.16.0.7 arp reply',
      { source: web, target: v4, protocol: { kind: 'arp', operation: 'reply' } },
    ],
  ])('reads %s', (line, expected) => {
    expect(parseTraceRequest(line.split(' '))).toEqual({ mac: undefined, ...expected })
  })

  it.each([
    ['', 'source'],
    ['shop/web', 'target IP address'],
    ['shop/web 10.16.0', 'target IP address'],
    ['shop/web 10.16.0.7', 'protocol'],
    ['shop/web 10.16.0.7 sctp', 'type'],
    ['shop/web 10.16.0.7 tcp', 'port'],
    ['shop/web 10.16.0.7 tcp 70000', 'port'],
    ['shop/web 10.16.0.7 tcp 80;reboot', 'port'],
    ['shop/web 10.16.0.7 icmp 8', 'argument'],
    ['shop/web fd00::7 arp', 'target IP address'],
    ['shop/web 10.16.0.7 arp both', 'ARP type'],
    ['shop/web/x 10.16.0.7 icmp', 'pod'],
    ['/web 10.16.0.7 icmp', 'pod'],
  ])('refuses %j and names the %s', (line, field) => {
    expect(() => parseTraceRequest(line.split(' ').filter((word) => word !== ''))).toThrow(
      expect.objectContaining({
        constructor: UsageError,
        details: expect.objectContaining({ field, cure: expect.stringMatching(/./) }),
      }),
    )
  })
})
