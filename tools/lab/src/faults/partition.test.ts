import { expect, it } from 'vitest'
import { renderRedirect } from './api-server.ts'
import { renderPairTable, renderServiceTable } from './partition.ts'

it('drops what goes to the other node, by family', () => {
  expect(renderPairTable('t', ['eth0', 'phys0'], ['192.0.2.1', '2001:db8::1', '192.0.2.2'])).toBe(
    `table netdev t {
  chain out {
    type filter hook egress devices = { "eth0", "phys0" } priority 0
    ip daddr { 192.0.2.1, 192.0.2.2 } drop
    ip6 daddr { 2001:db8::1 } drop
  }
}
`,
  )
})

it('cuts a service off in both directions, whether it serves here or elsewhere', () => {
  const rules = renderServiceTable('t', [6643, 6644])
  for (const hook of ['input', 'output', 'forward']) expect(rules).toContain(`hook ${hook} priority 0`)
  expect(rules.match(/tcp dport \{ 6643, 6644 } drop; tcp sport \{ 6643, 6644 } drop/g)).toHaveLength(3)
})

it('spares the machine that injects the fault when it leads the others to the proxy', () => {
  const rules = renderRedirect(['10.172.1.1', 'fd00:172:30:1::1'])
  expect(rules.match(/ip saddr 10\.172\.1\.1 accept\n {4}ip6 saddr fd00:172:30:1::1 accept/g)).toHaveLength(2)
})
