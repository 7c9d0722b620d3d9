import type { Pod } from '@kube-ovn/kube'
import { expect, it } from 'vitest'
import { stepsOf, type WhyFacts } from './steps.ts'

const annotations = {
  'ovn.kubernetes.io/allocated': 'true',
  'ovn.kubernetes.io/routed': 'true',
  'ovn.kubernetes.io/ip_address': '10.0.0.5',
  'ovn.kubernetes.io/logical_switch': 's',
}
const pod: Pod = {
  metadata: { name: 'web', namespace: 'shop', creationTimestamp: '2026-01-01T11:00:00Z', annotations },
  spec: { nodeName: 'n1', containers: [] },
  status: { phase: 'Running' },
}
const running: WhyFacts = {
  pod,
  nowMs: Date.parse('2026-01-01T12:00:00Z'),
  hasRecord: true,
  isAgentReady: true,
  isSwitchReady: true,
  nic: { isInstalled: true, name: 'abc_h' },
  isNicKnown: true,
  hasLeader: true,
}
const pending: Pod = { ...pod, status: { phase: 'Pending' } }
const { metadata } = pending

/** What is missing, and what can not be expected yet. */
function missing(facts: Partial<WhyFacts>): string {
  const steps = stepsOf({ ...running, pod: pending, ...facts })
  return steps
    .filter(({ state }) => state === 'missing' || state === 'waits')
    .map(({ step, state, by }) => (state === 'missing' ? `${step} by ${by}` : step))
    .join(', ')
}

it('misses nothing of a pod that runs', () => {
  expect(missing({ pod })).toBe('')
})

it.each<[string, Partial<WhyFacts>, string]>([
  [
    'not scheduled',
    {
      pod: { ...pending, metadata: { ...metadata, annotations: {} }, spec: { containers: [] } },
      nic: undefined,
    },
    'scheduled by the scheduler, addresses, policies, node, NIC, sandbox',
  ],
  [
    'without addresses',
    { pod: { ...pending, metadata: { ...metadata, annotations: {} } }, nic: undefined },
    'addresses by kube-ovn-controller, policies, NIC, sandbox',
  ],
  ['on a node without agent', { isAgentReady: false, nic: undefined }, 'node by kube-ovn-cni, NIC, sandbox'],
  [
    'on a node without Open vSwitch',
    { isSwitchReady: false, nic: undefined },
    'node by ovs-ovn, NIC, sandbox',
  ],
  ['without NIC', { nic: undefined }, 'NIC by kube-ovn-cni, sandbox'],
  ['without flows', { nic: { isInstalled: false, name: 'abc_h' } }, 'flows by ovn-controller, sandbox'],
  ['whose ADD goes on', {}, 'sandbox by kubelet'],
])('names the first step that a pod %s lacks, and who owes it', (_what, facts, expected) => {
  expect(missing(facts)).toBe(expected)
})

it('does not ask more of a pod of the host network', () => {
  expect(
    stepsOf({ ...running, pod: { ...pending, spec: { ...pending.spec, hostNetwork: true } } }),
  ).toMatchObject([{ step: 'network', state: 'done' }])
})

it('says so where nobody leads', () => {
  const facts = {
    ...running,
    hasLeader: false,
    pod: { ...pending, metadata: { ...metadata, annotations: {} } },
  }
  expect(stepsOf(facts).find(({ step }) => step === 'addresses')?.detail).toContain('nobody leads')
})
