import { describe, expect, it } from 'vitest'
import { readNoted, renderUplinkTables, watchedRanges } from './filter.ts'

const uplink = { name: 'eth0', networks: ['192.0.2.2/24', 'fd00::2/64', 'fe80::1/64'] }

describe('the watch over the uplink', () => {
  it('leaves out ranges in which the host itself lives: they tell nothing', () => {
    expect(watchedRanges([uplink]).ip).toContain('10.16.0.0/12')
    const office = { name: 'eth0', networks: ['10.20.1.5/16'] }
    expect(watchedRanges([office]).ip).not.toContain('10.16.0.0/12')
    expect(watchedRanges([office]).ip).toHaveLength(watchedRanges([uplink]).ip.length - 1)
    expect(watchedRanges([office]).ip6).toEqual(watchedRanges([uplink]).ip6)
  })

  it('notes what is routed before addresses are translated, and what is sent, and decides nothing', () => {
    const [routed, sent] = renderUplinkTables('watch', [uplink]).split('\n')
    const ranges =
      '{ 10.172.0.0/16, 10.16.0.0/12, 10.96.0.0/12, 10.127.0.0/16, 10.128.0.0/12, 100.64.0.0/16 }'
    expect(routed).toContain('type filter hook postrouting priority 90; policy accept;')
    expect(routed).toContain(`oifname { "eth0" } ip saddr ${ranges} add @ip_seen`)
    expect(sent).toContain('type filter hook egress devices = { "eth0" } priority 0; policy accept;')
    for (const packet of ['ip saddr', 'ip daddr', 'arp saddr ip', 'arp daddr ip'])
      expect(sent).toContain(`; ${packet} ${ranges} add @`)
    for (const table of [routed, sent]) expect(table).not.toMatch(/drop|reject|masquerade/)
  })

  it('says what nftables noted', () => {
    const set = {
      name: 'ip_seen',
      elem: [{ elem: { val: { concat: ['10.16.0.5', '192.0.2.1', 'udp'] }, counter: { packets: 3 } } }],
    }
    expect(
      readNoted(JSON.stringify({ nftables: [{ metainfo: {} }, { set }] }), 'sent by the uplink'),
    ).toEqual(['10.16.0.5 > 192.0.2.1 udp: 3 packets sent by the uplink'])
    expect(readNoted(JSON.stringify({ nftables: [{ set: { name: 'ip_seen' } }] }), '')).toEqual([])
  })
})
