import type { NetworkPolicy } from '@kube-ovn/kube-api/core'
import type { NetworkPolicyRows, NetworkPolicyScene } from './index.ts'

export type Spec = NonNullable<NetworkPolicy['spec']>

export function policy(spec: Spec, annotations: Readonly<Record<string, string>> = {}): NetworkPolicy {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'web', namespace: 'shop', annotations },
    spec: { podSelector: {}, ...spec },
  }
}

export const scene: NetworkPolicyScene = {
  ...{ namespace: 'shop', name: 'web', group: 'web.shop', families: [4], isLax: false, passesIcmpv6: true },
  stopsOpenConnections: true,
  peerFamilies: () => [4, 6],
  numbersOf: () => [],
}

/** Without what concerns connections that are open. */
export function rulesOf({ acls }: NetworkPolicyRows): NetworkPolicyRows['acls'] {
  return acls.filter(({ action }) => action !== 'pass')
}
