import { describe, expect, it } from 'vitest'
import { readNoted, renderCaptureFilter, renderUplinkTable, watchedRanges } from './filter.ts'
import { readCaptured } from './watch-uplink.ts'

const uplink = { name: 'eth0', networks: ['192.0.2.2/24', 'fd00::2/64', 'fe80::1/64'] }

describe('the watch over the uplink', () => {
  it('leaves out ranges in which the host itself lives: they tell nothing', () => {
    expect(watchedRanges([uplink]).ip).toContain('10.16.0.0/12')
    const office = { name: 'eth0', networks: ['10.20.1.5/16'] }
    expect(watchedRanges([office]).ip).not.toContain('10.16.0.0/12')
    expect(watchedRanges([office]).ip).toHaveLength(watchedRanges([uplink]).ip.length - 1)
    expect(watchedRanges([office]).ip6).toEqual(watchedRanges([uplink]).ip6)
  })

  it('notes before addresses are translated, and decides nothing', () => {
    const table = renderUplinkTable('watch', [uplink])
    expect(table).toContain('type filter hook postrouting priority 90; policy accept;')
    expect(table).toContain(
      'oifname { "eth0" } ip saddr { 172.30.0.0/16, 10.16.0.0/12, 10.96.0.0/12, 10.127.0.0/16, 10.128.0.0/12, 100.64.0.0/16 } add @ip_seen',
    )
    expect(table).not.toMatch(/drop|reject|masquerade/)
  })

  it('captures the same ranges', () => {
    expect(renderCaptureFilter([uplink])).toMatch(/^net 172\.30\.0\.0\/16 or .* or net fd00:100:64::\/112$/)
  })

  it('says what nftables noted', () => {
    const set = {
      name: 'ip_seen',
      elem: [{ elem: { val: { concat: ['10.16.0.5', '192.0.2.1', 'udp'] }, counter: { packets: 3 } } }],
    }
    expect(readNoted(JSON.stringify({ nftables: [{ metainfo: {} }, { set }] }))).toEqual([
      '10.16.0.5 > 192.0.2.1 udp: 3 packets routed to the uplink',
    ])
    expect(readNoted(JSON.stringify({ nftables: [{ set: { name: 'ip_seen' } }] }))).toEqual([])
  })

  it('tells packets from what tcpdump says about itself', () => {
    const packet = 'IP 10.16.0.5.40000 > 192.0.2.1.53: UDP, length 12'
    const output = `tcpdump: verbose output suppressed\nlistening on eth0, link-type EN10MB\n${packet}\n${packet}\n`
    expect(readCaptured(output)).toEqual([`${packet}  × 2`])
  })
})
