import type { KubeObject, Resource } from './core/object.ts'

/** An external address of a NAT gateway, reduced to the fields that are read here. Whoever runs the gateway defines and writes it. */
export interface IptablesEip extends KubeObject {
  readonly spec?: {
    readonly v4ip?: string
    readonly v6ip?: string
  }
  readonly status?: {
    /** Whether the gateway answers for the addresses. */
    readonly ready?: boolean
  }
}

export const iptablesEipResource: Resource<IptablesEip> = {
  group: 'kubeovn.io',
  version: 'v1',
  kind: 'IptablesEIP',
  plural: 'iptables-eips',
  namespaced: false,
}
