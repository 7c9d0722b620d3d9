import type { Service } from '@kube-ovn/kube-api/core'
import { endpointSlice, service, type ServiceFields } from '@kube-ovn/testing-builders'
import { shownMembers } from '@kube-ovn/domains-control/testing/shown'
import { describe, expect, it } from 'vitest'
import { StillServices } from './services-fixture.ts'

/** A Service, and addresses from outside that a balancer has given it. */
function given(fields: ServiceFields, ingress: readonly string[], day = 1): Service {
  const one = service({ type: 'LoadBalancer', ...fields })
  return {
    ...one,
    metadata: { ...one.metadata, uid: one.metadata.name, creationTimestamp: `2026-01-0${day}T00:00:00Z` },
    status: { loadBalancer: { ingress: ingress.map((ip) => ({ ip })) } },
  }
}

const layouts = ['shared', 'per-service'] as const
const outside = '172.18.0.200'

function stillServices(loadBalancerLayout: string, ...all: readonly Service[]): StillServices {
  const still = new StillServices({ loadBalancerLayout, enableOvnLbPreferLocal: true })
  still.put(...all)
  for (const [index, { metadata }] of all.entries()) {
    const { name } = metadata
    still.putSlices(endpointSlice({ name: `${name}-1`, service: name, endpoints: [`10.16.0.${index + 2}`] }))
  }
  return still
}

/** The entries of a Service, wherever they are. */
function entries(still: StillServices, name: string): readonly string[] {
  return shownMembers(still.wanted(`default/${name}`))
    .filter((text) => text.includes(' vips: '))
    .map((text) => text.slice(text.indexOf(' vips: ') + 7))
}

describe.each(layouts)('an address from outside, in the layout %s', (layout) => {
  it('is one entry, however often it is written, and none beside that of the cluster', () => {
    const ingress = [outside, 'fd00:18::200', outside, 'FD00:18:0::200', '10.96.0.9']
    const still = stillServices(layout, given({ clusterIP: '10.96.0.9' }, ingress))
    expect(entries(still, 'web')).toEqual(['10.96.0.9:80=10.16.0.2:8080', `${outside}:80=10.16.0.2:8080`])
  })

  it('that two Services have been given is that of the older one, as the other one is told, which gets it then', () => {
    const [older, younger] = [
      given({ name: 'web', clusterIP: '10.96.0.9' }, [outside], 1),
      given({ name: 'also', clusterIP: '10.96.0.8' }, [outside], 2),
    ]
    const still = stillServices(layout, older, younger)
    expect(entries(still, 'web')).toEqual(['10.96.0.9:80=10.16.0.2:8080', `${outside}:80=10.16.0.2:8080`])
    expect(entries(still, 'also')).toEqual(['10.96.0.8:80=10.16.0.3:8080'])
    expect(still.wanted('default/also').events.map(({ message }) => message)).toEqual([
      'Another Service has this address and port (field=status.loadBalancer.ingress value=172.18.0.200:80/tcp holder=default/web); choose another address or port, or take it from the other one: until then this one is not served there',
    ])
    expect(still.wanted('default/web').events).toEqual([])
    still.put(
      given({ name: 'web', clusterIP: '10.96.0.9', ports: [{ port: 81, protocol: 'TCP' }] }, [outside]),
    )
    expect(entries(still, 'also')).toContain(`${outside}:80=10.16.0.3:8080`)
    still.put(older)
    expect(entries(still, 'also')).toHaveLength(1)
    still.remove('default/web')
    expect(entries(still, 'also')).toContain(`${outside}:80=10.16.0.3:8080`)
    expect(still.wanted('default/also').events).toEqual([])
  })

  it('that is the address of another Service in the cluster, or was chosen before, is that one', () => {
    const chosen = service({
      ...{ name: 'chosen', clusterIP: 'None' },
      annotations: { 'ovn.kubernetes.io/switch_lb_vip': outside },
    })
    const still = stillServices(
      layout,
      given({ name: 'web', clusterIP: '10.96.0.9' }, ['10.96.0.7', outside], 2),
      service({ name: 'inside', clusterIP: '10.96.0.7' }),
      { ...chosen, metadata: { ...chosen.metadata, creationTimestamp: '2026-01-01T00:00:00Z' } },
    )
    expect(entries(still, 'web')).toEqual(['10.96.0.9:80=10.16.0.2:8080'])
    expect(entries(still, 'inside')).toEqual(['10.96.0.7:80=10.16.0.3:8080'])
    expect(entries(still, 'chosen')).toEqual([`${outside}:80=10.16.0.4:8080`])
  })
})

it('an address from outside that OVN does not serve stands in the way of nobody', () => {
  const still = new StillServices({})
  const chosen = service({
    ...{ name: 'chosen', clusterIP: 'None' },
    annotations: { 'ovn.kubernetes.io/switch_lb_vip': outside },
  })
  still.put(given({ clusterIP: '10.96.0.9' }, [outside]))
  still.put({ ...chosen, metadata: { ...chosen.metadata, creationTimestamp: '2026-01-02T00:00:00Z' } })
  still.putSlices(endpointSlice({ name: 'chosen-1', service: 'chosen', endpoints: ['10.16.0.4'] }))
  expect(entries(still, 'chosen')).toEqual([`${outside}:80=10.16.0.4:8080`])
})
