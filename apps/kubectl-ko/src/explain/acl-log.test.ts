import { expect, it } from 'vitest'
import { mayHaveLogged, packetText, parseAclLog } from './acl-log.ts'

// As OVN wrote them.
const dropped =
  '2026-11-25T20:44:59.130Z|00002|acl_log(ovn_pinctrl0)|INFO|name="stock/quiet", verdict=drop, severity=warning, direction=to-lport: icmp,vlan_tci=0x0000,dl_src=6a:76:d7:1c:54:05,dl_dst=22:75:95:9e:1e:2b,nw_src=10.172.9.10,nw_dst=10.18.0.2,nw_tos=0,nw_ecn=0,nw_ttl=63,nw_frag=no,icmp_type=8,icmp_code=0'

it('reads who sent what to whom, and what became of it', () => {
  expect(parseAclLog(dropped)).toEqual({
    ...{ name: 'stock/quiet', verdict: 'drop', severity: 'warning', direction: 'to-lport', protocol: 'icmp' },
    ...{ source: '10.172.9.10', target: '10.18.0.2', sourcePort: '', targetPort: '' },
  })
  expect(
    parseAclLog(
      'name="<unnamed>", verdict=allow, severity=info, direction=from-lport: tcp6,ipv6_src=fd00::2,ipv6_dst=fd00::3,tp_src=40000,tp_dst=80,tcp_flags=syn',
    ),
  ).toMatchObject({ name: '', verdict: 'allow', source: 'fd00::2', target: 'fd00::3', targetPort: '80' })
})

it.each(['pod/shop/web-0', '0x14238534', 'name="x"'])('takes %s for something else', (text) => {
  expect(parseAclLog(text)).toBeUndefined()
})

it('knows which ACLs may have logged it', () => {
  const packet = parseAclLog(dropped)
  if (packet === undefined) throw new Error('not read')
  const acl = { action: 'drop', direction: 'to-lport', severity: 'warning', log: true }
  expect(mayHaveLogged(packet, acl)).toBe(true)
  for (const other of [
    { action: 'reject' },
    { direction: 'from-lport' },
    { severity: 'info' },
    { log: false },
  ])
    expect(mayHaveLogged(packet, { ...acl, ...other })).toBe(false)
  expect(mayHaveLogged({ ...packet, verdict: 'allow' }, { ...acl, action: 'allow-related' })).toBe(true)
})

it('names all who have an address, as several VPCs may have it', () => {
  const packet = parseAclLog(
    'name="a", verdict=drop, severity=info, direction=to-lport: tcp6,ipv6_src=fd00::2,ipv6_dst=fd00::3,tp_src=40000,tp_dst=80',
  )
  if (packet === undefined) throw new Error('not read')
  const who: Readonly<Record<string, readonly string[]>> = { 'fd00::2': ['Pod red/web', 'Pod blue/web'] }
  expect(packetText(packet, (address) => who[address] ?? [])).toBe(
    'drop: tcp6 from [fd00::2]:40000 (Pod red/web or Pod blue/web) to [fd00::3]:80',
  )
})
