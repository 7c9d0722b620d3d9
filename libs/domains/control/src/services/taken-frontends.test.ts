import { IndexedStore } from '@kube-ovn/kube'
import type { SwitchLbRule, RouterLbRule } from '@kube-ovn/kube-api'
import type { Service } from '@kube-ovn/kube-api/core'
import { service, switchLbRule } from '@kube-ovn/testing-builders'
import { expect, it } from 'vitest'
import { rankOf } from './taken-frontends.ts'

const switchLbRules = new IndexedStore<SwitchLbRule>({})
const routerLbRules = new IndexedStore<RouterLbRule>({})
const old = switchLbRule({
  name: 'old',
  creationTimestamp: '2026-01-01T00:00:00Z',
  status: { service: 'shop/slr-old' },
})
switchLbRules.put('old', old)

const annotations = { 'ovn.kubernetes.io/switch_lb_vip': '1.1.1.1' }

function made(namespace: string, name: string, ownerName?: string): Service {
  const bare = service({ namespace, name, clusterIP: 'None', annotations })
  const owner = { apiVersion: 'kubeovn.io/v1', kind: 'SwitchLBRule', name: ownerName ?? '', uid: 'u1' }
  const ownerReferences = ownerName === undefined ? [] : [owner]
  return {
    ...bare,
    metadata: { ...bare.metadata, creationTimestamp: '2026-02-02T00:00:00Z', ownerReferences },
  }
}

function rank(object: Service): string {
  const { namespace = '', name } = object.metadata
  return rankOf(object, `${namespace}/${name}`, { switchLbRules, routerLbRules })
}

it('is as old as the rule that says to have made it', () => {
  expect(rank(made('shop', 'slr-old'))).toBe('2 2026-01-01T00:00:00Z shop/slr-old')
})

it('is no older for what its namespace says of its owners or writes as its name', () => {
  const ownAge = '2 2026-02-02T00:00:00Z'
  expect(rank(made('shop', 'mine', 'old'))).toBe(`${ownAge} shop/mine`)
  expect(rank(made('stall', 'slr-old', 'old'))).toBe(`${ownAge} stall/slr-old`)
})

it('is the first one with an address of the cluster', () => {
  expect(rank(service({ clusterIP: '10.96.0.9' }))).toBe('')
})
