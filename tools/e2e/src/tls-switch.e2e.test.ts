import { chartNamespace, idlePod, takeDownPod, untilPodsReady, upgradeChart } from '@kube-ovn/lab'
import type { ApiObject } from '@kube-ovn/lab'
import { askInTheClear } from '@kube-ovn/testing-ovsdb'
import { expect, it } from 'vitest'
import { describeInLab } from './describe-in-lab.ts'
import { useSuiteLab } from './suite-lab.ts'

const describe = describeInLab('is installed without TLS and then goes over')
const isDeep = process.env['KUBE_OVN_DEEP'] === '1'

describe('one database server', () => {
  const lab = isDeep ? useSuiteLab({ id: 'tls-switch', nodes: 2 }) : undefined

  function existing() {
    return lab?.cluster ?? expect.unreachable('the lab is there in deep runs')
  }

  /** Makes a pod on each node: all that is between the API and the nodes' flows has to work. */
  async function makePods(): Promise<void> {
    const { api, nodes } = existing()
    for (const { name } of nodes) {
      const pod = idlePod({ name: `on-${name}`, namespace: 'default' }, name)
      await api.apply(pod)
      await untilPodsReady(api, 'default', `app=on-${name}`, 1)
      await takeDownPod(api, pod)
    }
  }

  function answer(): Promise<string> {
    return askInTheClear(existing().nodes[0]?.kubernetes.ipv4 ?? '', 6642, 'asked-by-the-suite')
  }

  async function secretNames(): Promise<readonly string[]> {
    const secrets = await existing().api.list<ApiObject>(`/api/v1/namespaces/${chartNamespace}/secrets`)
    return secrets.map(({ metadata }) => metadata.name)
  }

  it('goes over to TLS by an upgrade, and back', async ({ skip }) => {
    skip(!isDeep, 'it takes minutes: KUBE_OVN_DEEP=1 runs it')
    await makePods()
    await upgradeChart(existing(), { networking: { enableSsl: true } })
    await makePods()
    expect(await answer()).not.toContain('{')
    expect(await secretNames()).toContain('kube-ovn-tls')

    await upgradeChart(existing(), { networking: { enableSsl: false } })
    await makePods()
    expect(await secretNames()).not.toContain('kube-ovn-tls')
  })
})
