import { runKubernetesSpecs, runPolicySuite, type SpecOutcome } from '@kube-ovn/lab'
import { describe, expect, it } from 'vitest'
import { describeInLab } from './describe-in-lab.ts'
import { selectionOf, specGroups } from './kubernetes-specs.ts'
import { definePolicyKinds } from './policies/policy-kinds.ts'
import { useSuiteLab } from './suite-lab.ts'

const describeOnLab = describeInLab("brings the images of Kubernetes' own specs to its nodes")
const isDeep = process.env['KUBE_OVN_DEEP'] === '1'
/** Of a group: the policies' specs, which ask each of nine pods about each other, take five to eight minutes. */
const timeoutMs = 20 * 60_000

describeOnLab("Kubernetes' own specs", () => {
  describe.for([
    { where: 'beside kube-proxy', proxyMode: 'nftables', id: 'conformance' },
    { where: 'without kube-proxy', proxyMode: 'none', id: 'conformance-alone' },
  ] as const)('$where', ({ proxyMode, id }) => {
    const lab = isDeep ? useSuiteLab({ id, nodes: 2, proxyMode }) : undefined

    it.for(specGroups[proxyMode])('$count of $name pass', { timeout: timeoutMs }, async (group, { skip }) => {
      skip(!isDeep, 'they take minutes to build and to run: KUBE_OVN_DEEP=1 runs them')
      const { cluster } = lab ?? expect.unreachable('the lab is there in deep runs')
      const startedMs = performance.now()
      const specs = await runKubernetesSpecs(cluster, selectionOf(group))
      console.log(render(group.name, specs, performance.now() - startedMs))
      for (const { name, reason } of group.leftOut) console.log(`left out: ${name}, since ${reason}`)
      expect(specs.filter(({ state }) => state !== 'passed')).toEqual([])
      expect(specs).toHaveLength(group.count)
    })
  })
})

describeOnLab("the network policy API's own claims", () => {
  const lab = isDeep
    ? useSuiteLab(
        { id: 'policy-api', nodes: 2, stack: 'dual' },
        { values: { features: { ENABLE_ANP: true } }, beforeChart: definePolicyKinds },
      )
    : undefined

  it.for([
    ['adminPolicies', 'AdminNetworkPolicies', 72],
    ['clusterPolicies', 'ClusterNetworkPolicies', 72],
  ] as const)('about %s hold', { timeout: timeoutMs }, async ([suite, kind, count], { skip }) => {
    skip(!isDeep, 'they take minutes to build and to run: KUBE_OVN_DEEP=1 runs them')
    const { cluster } = lab ?? expect.unreachable('the lab is there in deep runs')
    const startedMs = performance.now()
    const claims = await runPolicySuite(cluster, suite)
    console.log(render(kind, claims, performance.now() - startedMs))
    expect(claims.filter(({ state }) => !['passed', 'skipped'].includes(state))).toEqual([])
    expect(claims).toHaveLength(count)
    // Each has a part of several protocols that a kernel without SCTP can not tell all of.
    expect(claims.filter(({ state }) => state === 'passed').length).toBeGreaterThan(count * 0.75)
  })
})

function render(title: string, specs: readonly SpecOutcome[], ms: number): string {
  const passed = specs.filter(({ state }) => state === 'passed')
  const rows = specs
    .map(
      ({ name, state, seconds }) =>
        `  ${state === 'passed' ? '✓' : `✗ ${state}:`} ${name}  ${seconds.toFixed(1)} s`,
    )
    .sort()
  return [
    `${title}: ${passed.length} of ${specs.length} passed in ${(ms / 1000).toFixed(0)} s`,
    ...rows,
  ].join('\n')
}
