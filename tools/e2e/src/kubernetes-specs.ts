import type { SpecSelection } from '@kube-ovn/lab'

/** Some of Kubernetes' own specs that belong together. */
export interface SpecGroup {
  readonly name: string
  /** What the full name of a spec matches. */
  readonly focus: string
  /** How many of them there are in the version that is built here, without the left-out ones. */
  readonly count: number
  /** Those that can not pass in a lab. */
  readonly leftOut: readonly LeftOut[]
}

interface LeftOut {
  /** What the full name matches. */
  readonly name: string
  readonly reason: string
}

/** What every network of a cluster has to pass. */
const conformance: SpecGroup = {
  name: 'conformance of networks',
  focus: String.raw`\[sig-network\].*\[Conformance\]`,
  count: 47,
  leftOut: [],
}

/** Also those that are not for conformance. */
const proxies: SpecGroup = {
  name: "the API server's proxies",
  focus: String.raw`\[sig-network\] Proxy`,
  count: 5,
  leftOut: [],
}

const networkPolicies: SpecGroup = {
  name: 'NetworkPolicies',
  focus: String.raw`\[Feature:NetworkPolicy\]`,
  count: 45,
  leftOut: [
    {
      name: String.raw`\[Feature:SCTPConnectivity\]`,
      reason: 'the kernel of a lab may have no SCTP sockets',
    },
  ],
}

/** What runs beside kube-proxy, and what does where the chart serves Services. */
export const specGroups = {
  nftables: [conformance, proxies, networkPolicies],
  none: [conformance, networkPolicies],
} as const

export function selectionOf({ focus, leftOut }: SpecGroup): SpecSelection {
  return { focus, skip: leftOut.map(({ name }) => name) }
}
