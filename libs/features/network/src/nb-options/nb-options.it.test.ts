import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { startNorthbound } from '@kube-ovn/testing-ovsdb'
import { expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()

function options(control: Controller): Readonly<Record<string, string>> {
  return control.rows('NB_Global', 'options')[0]?.options ?? {}
}

const byDefault = {
  ls_dnat_mod_dl_dst: 'true',
  ls_ct_skip_dst_lport_ips: 'true',
  use_ct_inv_match: 'false',
}

it('are there from the first start on, follow the flags, and cost nothing when these are the same', async () => {
  {
    await using control = await cluster.startSettled()
    expect(options(control)).toMatchObject(byDefault)
    expect(options(control)).not.toHaveProperty('skip_conntrack_dst_cidrs')
  }
  {
    await using control = await cluster.startController()
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
  }
  {
    await using control = await cluster.startController({
      settings: { nodeLocalDns: ['169.254.25.10'] },
      flags: { lsDnatModDlDst: false, skipConntrackDstCidrs: '10.0.0.0/8', northdBackoffIntervalMs: 300 },
    })
    await control.settle()
    expect(options(control)).toMatchObject({
      ...byDefault,
      ls_dnat_mod_dl_dst: 'false',
      node_local_dns_ip: '169.254.25.10',
      skip_conntrack_dst_cidrs: '10.0.0.0/8',
      'northd-backoff-interval-ms': '300',
    })
  }
  await using control = await cluster.startController()
  await control.settle()
  expect(options(control)).toMatchObject(byDefault)
  expect(options(control)).not.toHaveProperty('node_local_dns_ip')
  expect(options(control)).not.toHaveProperty('skip_conntrack_dst_cidrs')
  // It may be an operator's by now.
  expect(options(control)).toHaveProperty('northd-backoff-interval-ms', '300')
})

it('come back when somebody changes them, beside what others have set', async () => {
  await using control = await cluster.startSettled()
  const { northbound } = cluster
  await northbound.nbctl('set', 'NB_Global', '.', 'options:use_ct_inv_match=true', 'options:theirs=1')
  await control.settle()
  expect(options(control)).toMatchObject({ ...byDefault, theirs: '1' })
  await northbound.nbctl('remove', 'NB_Global', '.', 'options', 'ls_dnat_mod_dl_dst')
  await control.settle()
  expect(options(control)).toMatchObject({ ...byDefault, theirs: '1' })
  await northbound.nbctl('clear', 'NB_Global', '.', 'options')
  await control.settle()
  expect(options(control)).toMatchObject(byDefault)
  // Three of the user's, and one answer to each.
  expect((await cluster.costs()).transactions).toBe(6)
})

it.each([
  ['node_local_dns_ip', '"169.254.25.10,fd00:a::a"'],
  ['skip_conntrack_dst_cidrs', '"10.0.0.0/8,fd00::/8"'],
])('write %s for a build of OVN of its own: stock OVN tracks all the same', async (name, value) => {
  await using northbound = await startNorthbound({ northd: true })
  await northbound.nbctl(
    ...[
      '--wait=sb',
      'ls-add',
      'sw0',
      '--',
      'lsp-add',
      'sw0',
      'web',
      '--',
      'lb-add',
      'lb0',
      '10.96.0.10:53',
      '10.16.0.2:53',
      'udp',
    ],
    ...['--', 'ls-lb-add', 'sw0', 'lb0', '--', 'acl-add', 'sw0', 'to-lport', '1000', 'ip4', 'allow-related'],
  )
  const flows = () => northbound.sbctl('lflow-list', 'sw0')
  const before = await flows()
  expect(before).toMatch(/ls_in_pre_lb.*match=\(ip\)/)
  expect(before).toMatch(/ls_in_pre_acl.*match=\(ip\)/)
  await northbound.nbctl('--wait=sb', 'set', 'NB_Global', '.', `options:${name}=${value}`)
  expect(await flows()).toBe(before)
  expect(before).not.toMatch(/169\.254\.25\.10|10\.0\.0\.0\/8/)
})
