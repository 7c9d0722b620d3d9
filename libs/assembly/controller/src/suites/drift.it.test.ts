import { subnetResource } from '@kube-ovn/kube-api'
import { beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

describe('rows of others and rows of ours that others change', () => {
  it('are left alone, and put right', async () => {
    await using control = await cluster.startSettled()
    const { northbound } = cluster
    const tables = [
      'Logical_Router',
      'Logical_Router_Port',
      'Logical_Router_Static_Route',
      'Logical_Router_Policy',
      'ACL',
      'Address_Set',
      'Port_Group',
      'Logical_Switch',
      'Logical_Switch_Port',
    ] as const
    const shape = () => tables.map((table) => control.rows(table, 'external_ids').length)
    const before = shape()
    const mac = control.named('Logical_Router_Port', 'ovn-cluster-join')?.mac
    await northbound.nbctl('lr-policy-del', 'ovn-cluster')
    await northbound.nbctl('lr-route-del', 'ovn-cluster')
    await northbound.nbctl('lrp-del', 'ovn-cluster-join')
    await northbound.nbctl('pg-del', 'ovn.default.n1', '--', 'pg-del', 'ovn.sg.kubeovn_deny_all')
    await northbound.nbctl('clear', 'NB_Global', '.', 'options')
    await control.settle()
    expect(shape()).toEqual(before)
    expect(control.named('Logical_Router_Port', 'ovn-cluster-join')?.mac).toBe(mac)
    await northbound.nbctl('ls-del', 'join')
    await northbound.nbctl('lr-del', 'ovn-cluster')
    await control.settle()
    expect(shape()).toEqual(before)
    expect(control.named('Logical_Router_Port', 'ovn-cluster-join')?.mac).toBe(mac)
    await northbound.nbctl('set', 'NB_Global', '.', 'options:foreign=kept')
    await northbound.nbctl('lr-policy-add', 'ovn-cluster', '7', 'ip4.src == 9.9.9.9', 'drop')
    await cluster.user.edit(subnetResource, 'ovn-default', { natOutgoing: false })
    await control.settle()
    expect(await northbound.nbctl('get', 'NB_Global', '.', 'options:foreign')).toBe('kept')
    expect(await northbound.nbctl('get', 'NB_Global', '.', 'options:use_ct_inv_match')).toBe('"false"')
    expect(await northbound.nbctl('lr-policy-list', 'ovn-cluster')).toContain('9.9.9.9')
    expect(control.problems()).toEqual([])
  })
})
