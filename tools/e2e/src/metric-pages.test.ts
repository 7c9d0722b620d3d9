import { registryOf } from '@kube-ovn/lint'
import { describe, expect, it } from 'vitest'
import { faultsOf, isAccepted, programOfJob } from './metric-pages.ts'

describe.each(Object.values(programOfJob))('%s', (program) => {
  it('serves a page without fault', async () => {
    expect(faultsOf(program, await registryOf(program).metrics())).toEqual([])
  })
})

it.each([
  { what: 'a name that is gone', from: /kube_ovn_ovn_status/g, to: 'ovn_status' },
  { what: 'another type', from: 'TYPE kube_ovn_db_status gauge', to: 'TYPE kube_ovn_db_status counter' },
  { what: 'no help', from: /^# HELP kube_ovn_chassis_info .*$/m, to: '# HELP kube_ovn_chassis_info ' },
  { what: 'another label', from: 'kube_ovn_ovn_status{hostname', to: 'kube_ovn_ovn_status{node' },
  { what: 'one label more', from: 'kube_ovn_cluster_term{', to: 'kube_ovn_cluster_term{raft="1",' },
])('finds fault with $what', async ({ from, to }) => {
  const page = (await registryOf('monitor').metrics()).replace(from, to)
  expect(faultsOf('monitor', page)).not.toEqual([])
})

it('accepts of what promtool finds only what upstream has so', () => {
  expect(isAccepted('kube_ovn_dp_total non-counter metrics should not have "_total" suffix')).toBe(true)
  expect(isAccepted('kube_ovn_rows_total non-counter metrics should not have "_total" suffix')).toBe(false)
  expect(isAccepted('kube_ovn_dp_total no help text')).toBe(false)
})
