import type { Namespace, NetworkPolicy, Pod } from '@kube-ovn/kube-api/core'
import { namespace, pod } from '@kube-ovn/testing-builders'
import { numbers } from './numbers.ts'

/** How much there is of what policies are about; counts of pods and policies are whole multiples of that of namespaces. */
interface PolicyWorldSize {
  readonly namespaces: number
  readonly pods: number
  readonly policies: number
  readonly nodes: number
}

/** As many namespaces have the same team. */
const namespacesPerTeam = 10

/** By this label a policy of each namespace selects others, of which none has it at first. */
export const markedLabel = 'watches'

/** Each has as many pods and policies. */
export function benchNamespace(index: number): Namespace {
  return namespace({ name: namespaceName(index), labels: { team: teamName(index) } })
}

/** A pod of one of the apps of a namespace, of which each has a policy. */
export function benchPod(index: number, { namespaces, policies, nodes }: PolicyWorldSize): Pod {
  const apps = policies / namespaces
  return pod({
    name: `pod-${index}`,
    namespace: namespaceName(index % namespaces),
    node: `node-${index % nodes}`,
    labels: { app: appName(Math.floor(index / namespaces) % apps), 'pod-template-hash': `${index % 5000}` },
  })
}

/**
 * The policy of one app of a namespace. It lets in another app of the namespace, the same app of the team's namespaces and, if it is the
 * first app, all of the namespaces that are marked; it lets out to the namespace and to a network.
 */
export function benchPolicy(index: number, { namespaces, policies }: PolicyWorldSize): NetworkPolicy {
  const apps = policies / namespaces
  const [own, app] = [index % namespaces, Math.floor(index / namespaces)]
  const marked = { namespaceSelector: { matchLabels: { [markedLabel]: 'all' } } }
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { namespace: namespaceName(own), name: `policy-${app}` },
    spec: {
      podSelector: { matchLabels: { app: appName(app) } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        {
          from: [{ podSelector: { matchLabels: { app: appName((app + 1) % apps) } } }],
          ports: [
            { protocol: 'TCP', port: 8080 },
            { protocol: 'TCP', port: 9090, endPort: 9099 },
          ],
        },
        {
          from: [
            {
              namespaceSelector: { matchLabels: { team: teamName(own) } },
              podSelector: { matchLabels: { app: appName(app) } },
            },
          ],
          ports: [{ protocol: 'TCP', port: 443 }],
        },
        ...(app === 0 ? [{ from: [marked], ports: [{ protocol: 'TCP', port: 9100 }] }] : []),
      ],
      egress: [
        { to: [{ podSelector: {} }] },
        {
          to: [{ ipBlock: { cidr: '172.16.0.0/12', except: ['172.16.9.0/24'] } }],
          ports: [{ protocol: 'TCP', port: 443 }],
        },
      ],
    },
  }
}

/** How many addresses there are in the sets of all policies while each pod has one of each family and no namespace has the mark. */
export function selectedAddresses({ namespaces, pods, policies }: PolicyWorldSize): number {
  const inNamespace = pods / namespaces
  const ofApp = (inNamespace * namespaces) / policies
  return 2 * policies * (ofApp + namespacesPerTeam * ofApp + inNamespace)
}

/** Names of the logical switch ports on a node. */
export function portsOn(index: number, size: PolicyWorldSize): readonly string[] {
  return podsOn(index, size).map(({ metadata: { name, namespace: of = '' } }) => `${name}.${of}`)
}

/**
 * What policies of pods on a node let through: each pair of an address of a peer and of a port of its rule, of both families, once for a policy,
 * however many of its pods are there; no namespace is marked. Of each there are two, as ovn-northd has of each such ACL: one asks connections that
 * are new, one those that are not.
 */
export function termsOn(index: number, size: PolicyWorldSize): number {
  const { namespaces, pods, policies } = size
  const inNamespace = pods / namespaces
  const ofApp = (inNamespace * namespaces) / policies
  const perFamily = 2 * ofApp + namespacesPerTeam * ofApp + inNamespace
  const here = new Set(
    podsOn(index, size).map(({ metadata: { namespace: of, labels } }) => `${of}/${labels?.['app']}`),
  )
  // And the network outside, which is of one family.
  return 2 * here.size * (2 * perFamily + 1)
}

function podsOn(index: number, size: PolicyWorldSize): readonly Pod[] {
  return numbers(0, size.pods)
    .filter((one) => one % size.nodes === index)
    .map((one) => benchPod(one, size))
}

export function namespaceName(index: number): string {
  return `shop-${index}`
}

function teamName(index: number): string {
  return `team-${Math.floor(index / namespacesPerTeam)}`
}

function appName(app: number): string {
  return `app-${app}`
}
