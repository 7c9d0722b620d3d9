import { problemText } from '@kube-ovn/errors'
import { service, type ServiceFields } from '@kube-ovn/testing-builders'
import { describe, expect, it } from 'vitest'
import { serviceProblem } from './problems.ts'
import type { Scope } from './scopes.ts'
import type { ServiceVpc } from './service-vpcs.ts'

const decided: ServiceVpc = {
  ...{ vpc: 'ovn-cluster', by: undefined, isServed: true, isStray: false },
  ...{ unknownSubnet: undefined, balancers: [] },
}

/** What is told of a Service whose clients get such backends; empty when nothing is. */
function told(fields: ServiceFields, scope: Scope = 'all'): string {
  const problem = serviceProblem(service(fields), decided, [], [{ scope }])
  return problem === undefined ? '' : problemText(problem)
}

const checking = (value: string): ServiceFields => ({
  annotations: { 'ovn.kubernetes.io/service_health_check': value },
})

const remembering = (timeoutSeconds: number): ServiceFields => ({
  sessionAffinity: 'ClientIP',
  sessionAffinityConfig: { clientIP: { timeoutSeconds } },
})

describe('one of two annotations', () => {
  const annotations = { 'ovn.kubernetes.io/logical_switch': 'blue' }
  const attached = { ...annotations, 'ovn.kubernetes.io/attachmentprovider': 'street.default' }

  it('has no effect alone', () => {
    expect(told({ annotations })).toContain('write ovn.kubernetes.io/logical_router as well')
    expect(told({ type: 'ClusterIP', annotations: attached })).toContain('logical_router as well')
  })

  it('is that of the Pod with the address in an attached network', () => {
    expect(told({ type: 'LoadBalancer', annotations: attached })).toBe('')
    const router = { ...attached, 'ovn.kubernetes.io/logical_router': 'red' }
    const { 'ovn.kubernetes.io/logical_switch': _, ...alone } = router
    expect(told({ type: 'LoadBalancer', annotations: alone })).toContain('logical_switch as well')
  })
})

describe('a time-out of affinity', () => {
  it('is what OVN can have', () => {
    expect(told(remembering(600))).toBe('')
    expect(told(remembering(65_536))).toContain('write at most 65535')
  })

  it.each<Scope>(['node', 'node-first', 'hints'])('is not in effect where backends differ: %s', (scope) => {
    expect(told(remembering(600), scope)).toContain(
      'field=spec.sessionAffinityConfig.clientIP.timeoutSeconds value=600',
    )
    // That of a Service which says none.
    expect(told(remembering(10_800), scope)).toBe('')
    expect(told({}, scope)).toBe('')
  })
})

describe('whether backends are asked', () => {
  it.each(['true', 'false'])('is said by %s', (value) => {
    expect(told(checking(value))).toBe('')
  })

  it.each(['no', 'False', ''])('is not said by "%s"', (value) => {
    expect(told(checking(value))).toContain('write true or false')
  })

  it.each<Scope>(['node', 'node-first', 'hints'])('has no effect where they differ: %s', (scope) => {
    expect(told(checking('true'), scope)).toContain('field=ovn.kubernetes.io/service_health_check value=true')
    expect(told(checking('false'), scope)).toBe('')
  })
})
