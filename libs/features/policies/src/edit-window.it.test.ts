import { securityGroupResource } from '@kube-ovn/kube-api'
import { namespaces, networkPolicies, pods, type NetworkPolicy } from '@kube-ovn/kube-api/core'
import { namespace, pod, securityGroup } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(async () => {
  await cluster.user.createNodes('n1')
  await cluster.client.create(namespaces, namespace({ name: 'shop' }))
})

const merge = 'application/merge-patch+json'
/** Together more than are taken at a time. */
const count = 40

async function createPods(app: string, annotations: Readonly<Record<string, string>> = {}): Promise<void> {
  const made = Array.from({ length: count }, (_, n) => `${app}-${n}`).map((name) =>
    pod({ name, namespace: 'shop', node: 'n1', labels: { app }, annotations }),
  )
  await Promise.all(made.map((one) => cluster.client.create(pods, one)))
}

function policy(name: string, spec: NonNullable<NetworkPolicy['spec']>): NetworkPolicy {
  return {
    ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
    ...{ metadata: { name, namespace: 'shop' }, spec },
  }
}

/** What holds of each state of the Northbound while something is done. */
async function eachState<T>(control: Controller, read: () => T, act: () => Promise<unknown>): Promise<T[]> {
  const states: T[] = []
  using _watching = control.onNorthboundChange(() => void states.push(read()))
  await act()
  await control.settle()
  return states
}

/** Sets whose members may do anything, by their number of members; and those whose members may use one port. */
function membersAllowed(control: Controller): readonly string[] {
  const sets = new Map(
    control.rows('Address_Set', 'name', 'addresses').map((set) => [set.name, set.addresses]),
  )
  return control
    .rows('ACL', 'match', 'action')
    .flatMap(({ match, action }) => {
      const set = /outport == @web\.shop .*ip4\.src == \$(\S+)/.exec(match)?.[1]
      const port = /tcp\.dst == (\d+)/.exec(match)?.[1] ?? 'all'
      return set === undefined || action !== 'allow-related'
        ? []
        : [`${port}: ${[...(sets.get(set) ?? [])].sort().join()}`]
    })
    .sort()
}

it('lets nobody in who is in a set that a rule had before, while a policy of many peers is edited', async () => {
  for (const app of ['trusted', 'public', 'web']) await createPods(app)
  const [trusted, open] = [
    { from: [{ podSelector: { matchLabels: { app: 'trusted' } } }] },
    { from: [{ podSelector: { matchLabels: { app: 'public' } } }], ports: [{ protocol: 'TCP', port: 80 }] },
  ]
  const podSelector = { matchLabels: { app: 'web' } }
  await cluster.client.create(networkPolicies, policy('web', { podSelector, ingress: [trusted, open] }))
  await using control = await cluster.startSettled()
  const before = membersAllowed(control)
  expect(before).toHaveLength(2)
  const states = await eachState(
    control,
    () => membersAllowed(control),
    () =>
      cluster.client.patch(networkPolicies, { namespace: 'shop', name: 'web' }, merge, {
        spec: { ingress: [open, trusted] },
      }),
  )
  expect(states).not.toEqual([])
  for (const state of states) expect(state).toEqual(before)
})

it('keeps no port from what its SecurityGroup allows while that goes to another tier', async () => {
  const any = { ipVersion: 'ipv4', protocol: 'all', policy: 'allow', remoteType: 'address' } as const
  const ingressRules = [{ ...any, priority: 10, remoteAddress: '0.0.0.0/0' }]
  await cluster.client.create(securityGroupResource, securityGroup({ name: 'web', ingressRules }))
  for (const app of ['a', 'b']) await createPods(app, { 'ovn.kubernetes.io/security_groups': 'web' })
  await using control = await cluster.startSettled()
  const dropped = (): readonly string[] => {
    const isAskedInTier2 = control
      .rows('ACL', 'tier', 'match')
      .some(({ tier, match }) => tier === 2 && match.startsWith('outport == @ovn.sg.web && ip4 && ip4.src'))
    const past = new Set(control.portsOf('Port_Group', 'ovn.sg.kubeovn_baseline'))
    return isAskedInTier2 ? [] : control.portsOf('Port_Group', 'ovn.sg.web').filter((port) => !past.has(port))
  }
  const states = await eachState(control, dropped, () =>
    cluster.client.patch(securityGroupResource, { name: 'web' }, merge, { spec: { tier: 1 } }),
  )
  for (const state of states) expect(state).toEqual([])
})

it('restricts all pods of a policy while its group gets another name', async () => {
  await cluster.client.create(
    networkPolicies,
    policy('a-b', { podSelector: { matchLabels: { app: 'none' } }, policyTypes: ['Ingress'] }),
  )
  await cluster.client.create(networkPolicies, policy('a.b', { podSelector: {}, policyTypes: ['Ingress'] }))
  for (const app of ['a', 'b']) await createPods(app)
  await using control = await cluster.startSettled()
  const restricted = (): number => {
    const groups = control
      .rows('ACL', 'match', 'action')
      .flatMap(({ match, action }) =>
        action === 'drop' ? (/outport == @(a\.b\.shop\S*)/.exec(match)?.[1] ?? []) : [],
      )
    return new Set(groups.flatMap((group) => control.portsOf('Port_Group', group))).size
  }
  const states = await eachState(control, restricted, () =>
    cluster.client.remove(networkPolicies, { namespace: 'shop', name: 'a-b' }),
  )
  expect(new Set(states)).toEqual(new Set([2 * count]))
})
