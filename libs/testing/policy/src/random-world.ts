import type { SecurityGroupRule, Subnet } from '@kube-ovn/kube-api'
import type { Pod } from '@kube-ovn/kube-api/core'
import type { Family } from '@kube-ovn/ip'
import { namespace, node, pod, securityGroup, subnet } from '@kube-ovn/testing-builders'
import { named, namesOf } from './colliding-names.ts'
import { drawAdminPolicies } from './random-admin-policies.ts'
import { drawFirewalls } from './random-egress-firewalls.ts'
import { drawNetworkPolicy } from './random-network-policies.ts'
import { withManyPorts } from './random-many-ports.ts'
import { followsNames, withNames } from './random-names.ts'
import { withNetworks } from './random-networks.ts'
import { drawPrefix } from './random-parts.ts'
import { withOddSelectors } from './random-selectors.ts'
import { withSeldomRules } from './random-security-groups.ts'
import { Random } from './random.ts'
import type { PolicyObjects, PolicyWorld } from './policy-world.ts'

const stacks: readonly (readonly Family[])[] = [[4], [6], [4, 6]]

const ranges = {
  4: { default: '10.16.0.0/24', other: '10.17.0.0/24' },
  6: { default: 'fd00:10:16::/120', other: 'fd00:10:17::/120' },
} as const

/** Draws a world; the same for the same seed. */
export function randomWorld(seed: number): PolicyWorld {
  const random = new Random(seed)
  const families = random.of(...(stacks as [readonly Family[]]))
  const range = (which: 'default' | 'other'): string =>
    families.map((family) => ranges[family][which]).join(',')
  const { namespaces, groups: groupNames } = namesOf(seed)
  const names = namespaces.slice(0, random.between(2, 4))
  const isOf = random.of('policies', 'policies', 'administrators', 'both', 'both', 'groups', 'subnets')
  const groups = isOf === 'groups' ? withSeldomRules(seed, drawGroups(random, groupNames)) : []
  const objects: PolicyObjects = {
    nodes: ['n1', 'n2'].map((name, index) =>
      node({
        name,
        addresses: families.map((family) => (family === 4 ? `172.18.0.1${index}` : `fd00:18::1${index}`)),
        labels: { zone: random.of('a', 'b') },
      }),
    ),
    namespaces: names.map((name) =>
      namespace({
        name,
        labels: { team: random.of('red', 'blue'), ...random.maybe(0.5, () => ({ env: 'prod' })) },
      }),
    ),
    pods: random.some(3, 8, (index) =>
      drawPod(
        random,
        index,
        names,
        groups.map(({ metadata }) => metadata.name),
      ),
    ),
    subnets: isOf === 'subnets' ? [drawSubnet(random, names, range('other'), families)] : [],
    networkPolicies:
      isOf === 'administrators'
        ? []
        : random.some(isOf === 'policies' ? 1 : 0, 4, (index) => drawNetworkPolicy(random, index, names)),
    ...{ networkAttachments: [], multiNetworkPolicies: [] },
    ...drawAdminPolicies(random, isOf === 'administrators' || isOf === 'both'),
    egressFirewalls: drawFirewalls(seed, names, families),
    securityGroups: groups,
    dnsNameResolvers: [],
  }
  const settings = {
    flags: {
      npIcmpv6: random.of('all', 'neighbours'),
      ownNodeMatch: random.of('addresses', 'ports'),
      stopOpenConnections: true,
      npEnforcement: new Random(seed ^ 0x1a7).of('standard', 'standard', 'lax'),
    },
    enableAnp: true,
    enableDnsNameResolver: followsNames(seed),
    defaultSubnet: {
      ...{ name: 'ovn-default', cidrBlock: range('default'), gateway: '', excludeIps: [] },
      disableGatewayCheck: true,
    },
    nodeSwitch: {
      ...{ name: 'join', gateway: '', excludeIps: [] },
      cidrBlock: families.map((family) => (family === 4 ? '100.64.0.0/16' : 'fd00:100:64::/112')).join(','),
    },
  }
  const drawn = withNames(
    seed,
    withNetworks(seed, withManyPorts(seed, withOddSelectors(seed, objects)), families),
  )
  return { seed, families, settings, objects: named(seed, drawn) }
}

function drawPod(
  random: Random,
  index: number,
  namespaces: readonly string[],
  groups: readonly string[],
): Pod {
  const some = groups.filter(() => random.chance(0.4))
  const drawn = pod({
    name: `p${index}`,
    namespace: random.among(namespaces) ?? '',
    node: random.of('n1', 'n2'),
    labels: {
      app: random.of('web', 'db', 'cache'),
      ...random.maybe(0.6, () => ({ tier: random.of('front', 'back') })),
    },
    phase: random.chance(0.08) ? 'Succeeded' : 'Running',
    hostNetwork: random.chance(0.06),
    ...(some.length === 0 ? {} : { annotations: { 'ovn.kubernetes.io/security_groups': some.join() } }),
  })
  const [container] = drawn.spec.containers
  if (container === undefined) return drawn
  const ports = [
    ...(random.chance(0.7) ? [{ name: 'http', containerPort: random.of(80, 80, 8080) }] : []),
    ...(random.chance(0.3) ? [{ name: 'names', containerPort: 53, protocol: 'UDP' as const }] : []),
  ]
  // One that is to run always is not over.
  return { ...drawn, spec: { ...drawn.spec, restartPolicy: 'Never', containers: [{ ...container, ports }] } }
}

/** Every rule of a world has a priority of its own: which of two OVN takes is nobody's to say. */
function drawGroups(random: Random, all: readonly string[]): PolicyObjects['securityGroups'] {
  let priority = 0
  const drawRule = (): SecurityGroupRule => {
    const family = random.of(4, 6)
    const remote = random.chance(0.4)
      ? { remoteType: 'securityGroup', remoteSecurityGroup: random.among(all) ?? '' }
      : { remoteType: 'address', remoteAddress: drawPrefix(random, family) }
    const protocol = random.of('all', 'tcp', 'tcp', 'udp', 'icmp')
    const isPorted = protocol === 'tcp' || protocol === 'udp'
    return {
      ipVersion: `ipv${family}`,
      protocol,
      priority: (priority += random.between(1, 700)),
      policy: random.of('allow', 'allow', 'allow', 'drop'),
      ...remote,
      ...(isPorted ? { portRangeMin: random.of(1, 80), portRangeMax: random.of(80, 8080) } : {}),
    }
  }
  const names = all.slice(0, random.between(1, 3))
  return names.map((name) =>
    securityGroup({
      ...{ name, tier: random.of(0, 0, 1), allowSameGroupTraffic: random.chance(0.5) },
      ingressRules: [...random.some(0, 3, drawRule)],
      egressRules: [...random.some(0, 3, drawRule)],
    }),
  )
}

function drawSubnet(
  random: Random,
  namespaces: readonly string[],
  cidrBlock: string,
  families: readonly Family[],
): Subnet {
  const spec = random.chance(0.6)
    ? {
        private: true,
        allowSubnets: random.chance(0.5) ? families.map((family) => ranges[family].default) : [],
      }
    : {
        allowEWTraffic: random.chance(0.5),
        acls: [...random.some(1, 4, (index) => drawAcl(random, index, families))],
      }
  return subnet({ name: 'iso', cidrBlock, namespaces: [namespaces[0] ?? ''], ...spec })
}

function drawAcl(random: Random, index: number, families: readonly Family[]) {
  const family = random.among(families) ?? 4
  const prefix = random.chance(0.5) ? ranges[family].default : drawPrefix(random, family)
  return {
    direction: random.of('to-lport', 'from-lport'),
    priority: 1500 + 300 * index + random.between(0, 99),
    match: `ip${family}.${random.of('src', 'dst')} == ${prefix}`,
    action: random.of('allow-related', 'allow', 'drop'),
  }
}
